#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/ast.h"
#include "planner/bind/bind.h"
#include "sql/catalog/catalog.h"
#include "sql/expressions/expression.h"

namespace redquel::planner {

// The body of a function in LANGUAGE sql, and the conversion of its last statement's rows to results.

struct BodyStatement {
  std::string text;
  std::shared_ptr<const parser::ast::Statement> statement;
};
/// 42601 and the like.
std::vector<BodyStatement> parse_function_body(const sql::FunctionDef&);
/// SELECT or VALUES that writes nothing, and nothing else.
bool is_one_query(const sql::FunctionDef&);

/// Checks that rows with columns of these types can be the function's: 42P13 "return type mismatch in function declared to return
/// integer". nullopt: the last statement gives no rows.
void check_result_types(const sql::FunctionDef&, const std::optional<std::vector<sql::Type>>&, const sql::SessionSettings&);
/// Returns true if the one column is a row that the function returns as it is: of its type, or a record that becomes
/// one.
bool is_whole_row(const sql::FunctionDef&, const std::vector<sql::Type>&);
/// Returns the function's columns, made of such a row. 42804 at run time for a record that has other fields.
std::vector<sql::ExpressionPtr> fields_of_row(const sql::FunctionDef&, const sql::ExpressionPtr& row,
                                              const sql::SessionSettings&);
/// The results made of such rows, over the positions of their columns: the function's columns, or one value.
std::vector<sql::ExpressionPtr> function_results(const sql::FunctionDef&, const std::vector<sql::ResultColumn>& rows, bool as_value,
                                                 const sql::SessionSettings&);

/// Checks a body for CREATE FUNCTION: throws like bind() for its statements, and 42P13 for the result. Skips functions with polymorphic
/// types.
void check_function(std::shared_ptr<const sql::FunctionDef>, const sql::CatalogSnapshot&, const BindSettings&);

}  // namespace redquel::planner
