// Access control lists (manual 9.26.3): texts like {postgres=arwdDxt/postgres}, an empty grantee is everybody.

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/privileges/acl_text.h"
#include "sql/privileges/right_names.h"
#include "sql/sqlstate.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// acldefault()'s letters.
constexpr std::pair<char, AclKind> kKindLetters[] = {
    {'c', AclKind::kColumn},   {'r', AclKind::kTable},    {'s', AclKind::kSequence},   {'d', AclKind::kDatabase},
    {'f', AclKind::kFunction}, {'l', AclKind::kLanguage}, {'L', AclKind::kLargeObject}, {'n', AclKind::kSchema},
    {'p', AclKind::kParameter}, {'t', AclKind::kTablespace}, {'F', AclKind::kForeignDataWrapper}, {'S', AclKind::kForeignServer},
    {'T', AclKind::kType},
};

void default_list(std::string_view kind, std::int32_t owner, std::string& out) {
  for (const auto& [letter, of_kind] : kKindLetters) {
    if (kind.empty() || letter != kind.front()) continue;
    out = acl_text(default_acl(of_kind, static_cast<Oid>(owner)));
    return;
  }
  throw SqlError(sqlstate::kInternalError, "unrecognized object type abbreviation: " + std::string(kind));
}

struct Privilege {
  Oid grantor = 0, grantee = 0;
  Rights right = 0;
  bool grantable = false;
};

void add_privileges(const AclItem& item, std::vector<Privilege>& privileges) {
  for (std::size_t bit = 0; bit < kRightLetters.size(); ++bit) {
    const Rights right = Rights{1} << bit;
    if ((item.rights & right) != 0) privileges.push_back({item.grantor, item.grantee, right, (item.grantable & right) != 0});
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
      names.append(right_name(privilege.right));
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
    for (const AclItem& item : decode_acl_text(*text)) add_privileges(item, privileges);
  }
  return std::make_unique<PrivilegeRows>(std::move(privileges));
}

/// Returns true if an item of the list has the same two roles and at least these privileges.
bool list_contains(Text list, Text wanted_text) {
  const AclItem wanted = decode_acl_item_text(wanted_text);
  return std::ranges::any_of(decode_acl_text(list), [&](const AclItem& item) {
    return item.grantee == wanted.grantee && item.grantor == wanted.grantor && (wanted.rights & ~item.rights) == 0 &&
           (wanted.grantable & ~item.grantable) == 0;
  });
}

void refuse_insertion(Text, Text, std::string&) { throw SqlError(sqlstate::kFeatureNotSupported, "aclinsert is no longer supported"); }
void refuse_removal(Text, Text, std::string&) { throw SqlError(sqlstate::kFeatureNotSupported, "aclremove is no longer supported"); }

void make_item(Int grantee, Int grantor, Text privilege, bool grantable, std::string& out) {
  const std::optional<Rights> right = find_right(privilege);
  if (!right) throw SqlError(sqlstate::kInvalidParameterValue, "unrecognized privilege type: \"" + std::string(privilege) + "\"");
  out = acl_item_text({static_cast<Oid>(grantee), static_cast<Oid>(grantor), *right, grantable ? *right : 0});
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
