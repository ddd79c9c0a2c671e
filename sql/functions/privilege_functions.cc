// Access control lists (manual 9.26.3): texts like {postgres=arwdDxt/postgres}, an empty grantee is everybody.

#include "sql/error.h"
#include "sql/functions/lift.h"
#include "sql/functions/more_families.h"
#include "sql/functions/quote.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
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

}  // namespace

std::vector<ScalarFunction> privilege_functions() {
  return {scalar<default_list>("acldefault", {Type{oid::kChar}, kOidType}, kTextArray)};
}

}  // namespace redquel::sql
