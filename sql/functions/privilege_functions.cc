// Access control lists (manual 9.26.3): texts like {postgres=arwdDxt/postgres}, an empty grantee is everybody.

#include <array>

#include "sql/error.h"
#include "sql/functions/lift.h"
#include "sql/functions/more_families.h"
#include "sql/functions/quote.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/types/access_item.h"
#include "sql/types/array_value.h"
#include "sql/types/more_types.h"

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

void default_list(const EvaluationContext& context, std::string_view kind, std::int32_t owner, std::string& out) {
  static const CatalogSnapshot nothing;
  std::string name = std::to_string(static_cast<Oid>(owner));
  for (const Role& role : all_roles(context.catalog == nullptr ? nothing : *context.catalog, context)) {
    if (role.oid == static_cast<Oid>(owner)) name = quote_identifier(role.name);
  }
  for (const DefaultRights& rights : kDefaultRights) {
    if (kind.empty() || rights.kind != kind.front()) continue;
    std::string items;
    if (!rights.everybody.empty()) items += "=" + std::string(rights.everybody) + "/" + name;
    if (!items.empty()) items += ",";
    if (!rights.owner.empty()) items += name + "=" + std::string(rights.owner) + "/" + name;
    out = "{" + items + "}";
    return;
  }
  throw SqlError("XX000", "unrecognized object type abbreviation: " + std::string(kind));
}

constexpr std::array<std::string_view, kPrivilegeLetters.size()> kPrivilegeNames{
    "INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER",
    "EXECUTE", "USAGE", "CREATE", "TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM"};

struct Privilege {
  Oid grantor = 0, grantee = 0;  // 0: everybody
  std::size_t letter = 0;
  bool grantable = false;
};

Oid grantee_oid(std::string_view name) {
  if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
  return name.empty() ? 0 : role_oid(name);
}

/// An item as parse_access_item() spells it.
void add_privileges(std::string_view item, std::vector<Privilege>& privileges) {
  const std::size_t slash = item.rfind('/'), equals = item.rfind('=', slash);
  if (slash == std::string_view::npos || equals == std::string_view::npos) return;
  Privilege privilege{.grantor = grantee_oid(item.substr(slash + 1)), .grantee = grantee_oid(item.substr(0, equals))};
  for (std::size_t at = equals + 1; at < slash; ++at) {
    privilege.letter = kPrivilegeLetters.find(item[at]);
    if (privilege.letter == std::string_view::npos) continue;
    privilege.grantable = item[at + 1] == '*';
    privileges.push_back(privilege);
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
      if (item) add_privileges(*item, privileges);
    }
  }
  return std::make_unique<PrivilegeRows>(std::move(privileges));
}

}  // namespace

std::vector<TableFunction> privilege_rows() {
  return {{"aclexplode",
           {oid::kAclitemArray},
           {{"grantor", oid::kOid}, {"grantee", oid::kOid}, {"privilege_type", oid::kText}, {"is_grantable", oid::kBool}},
           open_privileges}};
}

std::vector<ScalarFunction> privilege_functions() {
  constexpr Type kAclitem{oid::kAclitem};
  return {scalar<default_list>("acldefault", {Type{oid::kChar}, kOidType}, Type{oid::kAclitemArray}),
          // Items are spelled in one way: equal ones have equal texts.
          scalar<[](std::string_view a, std::string_view b) { return a == b; }>("=", {kAclitem, kAclitem}, kBool),
          scalar<[](std::string_view a, std::string_view b) { return a == b; }>("aclitemeq", {kAclitem, kAclitem}, kBool)};
}

}  // namespace redquel::sql
