// Access control lists (manual 9.26.3): texts like {postgres=arwdDxt/postgres}, an empty grantee is everybody.

#include <algorithm>
#include <array>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/types/access_item.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// What the owner and everybody else may do with a new object of a kind (manual 5.7).
struct DefaultRights {
  char kind;
  std::string_view everybody, owner;
};
constexpr DefaultRights kDefaultRights[] = {
    {'c', "", ""},   {'r', "", "arwdDxt"}, {'s', "", "rwU"}, {'d', "Tc", "CTc"}, {'f', "X", "X"}, {'l', "U", "U"}, {'L', "", "rw"},
    {'n', "", "UC"}, {'p', "", "sA"},      {'t', "", "C"},   {'F', "", "U"},     {'S', "", "U"},  {'T', "U", "U"},
};

/// The number of one that is not there.
std::string name_of_role(const EvaluationContext& context, Oid oid) {
  static const CatalogSnapshot nothing;
  for (const Role& role : all_roles(context.catalog == nullptr ? nothing : *context.catalog, context)) {
    if (role.oid == oid) return role.name;
  }
  return std::to_string(oid);
}

void default_list(const EvaluationContext& context, std::string_view kind, std::int32_t owner, std::string& out) {
  const std::string name = quote_identifier(name_of_role(context, static_cast<Oid>(owner)));
  for (const DefaultRights& rights : kDefaultRights) {
    if (kind.empty() || rights.kind != kind.front()) continue;
    std::string items;
    if (!rights.everybody.empty()) items += "=" + std::string(rights.everybody) + "/" + name;
    if (!items.empty()) items += ",";
    if (!rights.owner.empty()) items += name + "=" + std::string(rights.owner) + "/" + name;
    out = "{" + items + "}";
    return;
  }
  throw SqlError(sqlstate::kInternalError, "unrecognized object type abbreviation: " + std::string(kind));
}

constexpr std::array<std::string_view, kPrivilegeLetters.size()> kPrivilegeNames{
    "INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER",
    "EXECUTE", "USAGE", "CREATE", "TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM"};

struct Privilege {
  Oid grantor = 0, grantee = 0;  // 0: everybody
  std::size_t letter = 0;
  bool grantable = false;
};

void add_privileges(const AccessItem& item, std::vector<Privilege>& privileges) {
  for (std::size_t letter = 0; letter < kPrivilegeLetters.size(); ++letter) {
    if ((item.privileges >> letter & 1) == 0) continue;
    privileges.push_back({.grantor = role_oid(item.grantor),
                          .grantee = item.grantee.empty() ? 0 : role_oid(item.grantee),
                          .letter = letter,
                          .grantable = (item.grantable >> letter & 1) != 0});
  }
}

class PrivilegeRows final : public RowSource {
 public:
  explicit PrivilegeRows(std::vector<Privilege> privileges) : privileges_(std::move(privileges)) {}

  Batch next(std::size_t limit) override {
    Column grantors(kOidType), grantees(kOidType), names(kText), grantable(kBool);
    Batch batch;
    for (; next_ < privileges_.size() && batch.rows < limit; ++next_, ++batch.rows) {
      const Privilege& privilege = privileges_[next_];
      grantors.append(static_cast<std::int32_t>(privilege.grantor));
      grantees.append(static_cast<std::int32_t>(privilege.grantee));
      names.append(kPrivilegeNames[privilege.letter]);
      grantable.append(privilege.grantable);
    }
    for (Column* column : {&grantors, &grantees, &names, &grantable}) batch.columns.push_back(std::make_shared<const Column>(std::move(*column)));
    return batch;
  }

 private:
  std::vector<Privilege> privileges_;
  std::size_t next_ = 0;
};

std::unique_ptr<RowSource> open_privileges(std::span<const Datum> arguments, const EvaluationContext&) {
  std::vector<Privilege> privileges;
  if (const auto* text = std::get_if<std::string>(&arguments[0])) {
    const ArrayValue items = read_array(oid::kAclitemArray, *text);
    for (const std::optional<std::string_view>& item : items.elements) {
      if (item) add_privileges(read_access_item(*item), privileges);
    }
  }
  return std::make_unique<PrivilegeRows>(std::move(privileges));
}

/// An item of the list has the same two roles and at least these privileges.
bool list_contains(Text list, Text wanted_text) {
  const AccessItem wanted = read_access_item(wanted_text);
  for (const std::optional<std::string_view>& text : read_array(oid::kAclitemArray, list).elements) {
    if (!text) continue;
    const AccessItem item = read_access_item(*text);
    if (item.grantee == wanted.grantee && item.grantor == wanted.grantor && (wanted.privileges & ~item.privileges) == 0 &&
        (wanted.grantable & ~item.grantable) == 0) {
      return true;
    }
  }
  return false;
}

void refuse_insertion(Text, Text, std::string&) { throw SqlError(sqlstate::kFeatureNotSupported, "aclinsert is no longer supported"); }
void refuse_removal(Text, Text, std::string&) { throw SqlError(sqlstate::kFeatureNotSupported, "aclremove is no longer supported"); }

/// In any letter case. 22023 for what is no privilege.
std::uint32_t privilege_named(Text written) {
  std::string name(written);
  for (char& c : name) c = to_upper(c);
  if (name == "TEMP") name = "TEMPORARY";
  if (name == "RULE") return 0;  // means nothing any more
  const auto* const found = std::ranges::find(kPrivilegeNames, name);
  if (found == kPrivilegeNames.end()) {
    throw SqlError(sqlstate::kInvalidParameterValue, "unrecognized privilege type: \"" + std::string(written) + "\"");
  }
  return std::uint32_t{1} << (found - kPrivilegeNames.begin());
}

void make_item(Context context, Int grantee, Int grantor, Text privilege, bool grantable, std::string& out) {
  AccessItem item{.privileges = privilege_named(privilege)};
  if (grantable) item.grantable = item.privileges;
  if (grantee != 0) item.grantee = name_of_role(context, static_cast<Oid>(grantee));
  item.grantor = name_of_role(context, static_cast<Oid>(grantor));
  out = access_item_text(item);
}

}  // namespace

std::vector<TableFunction> privilege_rows() {
  return {{"aclexplode",
           {oid::kAclitemArray},
           {{"grantor", oid::kOid}, {"grantee", oid::kOid}, {"privilege_type", oid::kText}, {"is_grantable", oid::kBool}},
           open_privileges}};
}

std::vector<ScalarFunction> privilege_functions() {
  constexpr Type kAclitem{oid::kAclitem}, kAclitems{oid::kAclitemArray};
  std::vector<ScalarFunction> table = {
      scalar<default_list>("acldefault", {Type{oid::kChar}, kOidType}, kAclitems),
      // Items are spelled in one way: equal ones have equal texts.
      scalar<[](std::string_view a, std::string_view b) { return a == b; }>("=", {kAclitem, kAclitem}, kBool),
      scalar<[](std::string_view a, std::string_view b) { return a == b; }>("aclitemeq", {kAclitem, kAclitem}, kBool),
      scalar<make_item>("makeaclitem", {kOidType, kOidType, kText, kBool}, kAclitem),
  };
  for (const std::string_view name : {"@>", "aclcontains"}) table.push_back(scalar<list_contains>(name, {kAclitems, kAclitem}, kBool));
  for (const std::string_view name : {"+", "aclinsert"}) table.push_back(scalar<refuse_insertion>(name, {kAclitems, kAclitem}, kAclitems));
  for (const std::string_view name : {"-", "aclremove"}) table.push_back(scalar<refuse_removal>(name, {kAclitems, kAclitem}, kAclitems));
  return table;
}

}  // namespace redquel::sql
