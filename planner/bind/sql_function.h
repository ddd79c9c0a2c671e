#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/bind/query_level.h"

namespace redquel::planner {

// Functions in LANGUAGE sql: the body stands where the function is called, like a view with parameters.

/// A call with its overload chosen; arguments for all parameters, in their types.
struct SqlFunctionCall {
  std::shared_ptr<const sql::FunctionDef> function;
  std::vector<sql::ExpressionPtr> arguments;
};

/// Is there a function of that name in the search path, or in the schema that is written?
bool is_sql_function(const BindState&, const parser::ast::QualifiedName&);
/// The function that a call with these bound arguments means. 42883 "function f(integer) does not exist", 42725.
SqlFunctionCall resolve_sql_function(BindState&, const parser::ast::FunctionCall&, std::vector<sql::ExpressionPtr> bound,
                                     std::optional<std::uint32_t> offset);

/// The body's rows, in the function's columns. `frame`: how columns in the arguments arrive. 0A000 for recursion.
LogicalPtr bind_function_rows(BindState&, const SqlFunctionCall&, CorrelationFrame& frame);
/// The value of a call as an expression over the arguments; null where the body is more than that.
sql::ExpressionPtr inline_function(BindState&, const SqlFunctionCall&);
/// `value` where no argument of a STRICT function is NULL.
sql::ExpressionPtr strict_value(const SqlFunctionCall&, const sql::ExpressionPtr& value);

/// $1 in a body. 42P02 where there is no such parameter.
sql::ExpressionPtr function_parameter(const FunctionScope&, std::int32_t number, std::optional<std::uint32_t> offset);
/// `name` or `function.name` in a body; null: no parameter is called so.
sql::ExpressionPtr function_parameter(const FunctionScope&, std::string_view relation, std::string_view name);

/// What CREATE FUNCTION checks of a body. 42P13 "return type mismatch in function declared to return integer", and what the body's
/// query throws; 0A000 for bodies that are not one query.
void check_function(const sql::FunctionDef&, const sql::CatalogSnapshot&, const BindSettings&);
/// f(integer, text): as messages name it.
std::string signature_of(const sql::FunctionDef&);

}  // namespace redquel::planner
