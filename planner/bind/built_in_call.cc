#include "planner/bind/built_in_call.h"

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/privileges/initial_acls.h"
#include "sql/privileges/object_acl.h"
#include "sql/system_tables/function_catalog.h"

namespace redquel::planner {

bool is_built_in_call(const std::string& name, const std::vector<sql::ExpressionPtr>& arguments) {
  std::vector<sql::Type> types;
  for (const sql::ExpressionPtr& argument : arguments) types.push_back(argument->type);
  try {
    if (!sql::find_functions(name).empty()) sql::resolve_function(name, types);
    else sql::resolve_table_function(name, types);
    return true;
  } catch (const sql::SqlError&) {
    return false;
  }
}

void require_execute(BindState& state, std::string_view name, std::span<const sql::Oid> arguments) {
  if (state.requirements.is_exempt) return;
  for (const sql::CatalogFunction* function : sql::find_catalog_functions(name)) {
    const bool is_restricted = sql::initial_function_acl(function->oid, name) ||
                               state.catalog.system_acls.contains({sql::catalog_class::kFunctions, function->oid});
    if (is_restricted && std::ranges::equal(function->arguments, arguments)) state.requirements.add_function(function->oid);
  }
}

}  // namespace redquel::planner
