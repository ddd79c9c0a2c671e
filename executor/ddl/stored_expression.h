#pragma once

#include <string>
#include <string_view>

#include "parser/ast.h"

namespace redquel::executor {

// CHECK expressions as the catalog stores them: SQL text that names columns, always without the table's name, so that only a rename
// of the column touches it.

std::string stored_check(const parser::ast::Expression& condition);
/// The text with another name for one column.
std::string with_renamed_column(const std::string& expression_sql, std::string_view from, std::string_view to);

}  // namespace redquel::executor
