#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

class CatalogDraft;

// CHECK expressions as the catalog stores them: SQL text that names columns, always without the table's name, so that only a rename
// of the column touches it.

std::string stored_check(const parser::ast::Expression& condition);
/// The text with another name for one column.
std::string with_renamed_column(const std::string& expression_sql, std::string_view from, std::string_view to);

/// The text with another name for the calls that can mean this function. `search_path`: where names without a schema are looked for.
std::string with_renamed_function(const std::string& expression_sql, const sql::FunctionDef& before, const parser::ast::QualifiedName& name,
                                  const std::vector<std::string>& search_path);

/// The texts of views follow the new name of a relation that they read, or of its columns. `before`: the catalog with the old names.
void rename_in_views(CatalogDraft& draft, const sql::CatalogSnapshot& before, sql::Oid relation);

}  // namespace redquel::executor
