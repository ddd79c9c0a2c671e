#pragma once

#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "sql/functions/object_description.h"

namespace redquel::executor {

/// Returns the objects that a GRANT or REVOKE names, or those of its schemas (ALL … IN SCHEMA). Throws 42P01, 42704, 42883, 3F000, 42501
/// without USAGE on such a schema, 42809, 0LP01 for array types; 0A000 for kinds of objects that redquel has none of. Not for databases.
std::vector<sql::ObjectAddress> granted_objects(CatalogDraft& draft, const parser::ast::Grant& statement);

}  // namespace redquel::executor
