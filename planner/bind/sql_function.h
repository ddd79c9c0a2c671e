#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/bind/query_level.h"

namespace redquel::planner {

// Functions in LANGUAGE sql. Where the body is one query, and means the same there, it stands where the function is called, like a view
// with parameters. Otherwise (several statements, writes, recursion, rows as values) the call is an expression, or a function in FROM,
// for which the executor runs the body (function_body.h).

/// A call with its overload chosen: the function with the call's types in place of polymorphic ones, and with the columns of a row type
/// that it returns; arguments for all parameters, in their types.
struct SqlFunctionCall {
  std::shared_ptr<const sql::FunctionDef> function;
  std::vector<sql::ExpressionPtr> arguments;
};

/// Returns true if a function of that name exists in the search path, or in the given schema.
bool is_sql_function(const BindState&, const parser::ast::QualifiedName&);
/// Returns true if a function of that name fits these arguments better than each built-in one.
bool fits_better_than_built_in(const BindState&, const parser::ast::FunctionCall&, const std::vector<sql::ExpressionPtr>& bound);
/// Returns true if a call in FROM means a built-in function.
bool means_built_in(const BindState&, const parser::ast::FunctionCall&, const std::vector<sql::ExpressionPtr>& bound);
/// The function that a call with these bound arguments means; of CALL: the procedure. 42883 "function f(integer) does not exist", 42725,
/// 42809.
SqlFunctionCall resolve_sql_function(BindState&, const parser::ast::FunctionCall&, std::vector<sql::ExpressionPtr> bound,
                                     std::optional<std::uint32_t> offset, bool procedure = false);
/// The function as it is for arguments of these types. 42804 where nothing says what a polymorphic type stands for.
std::shared_ptr<const sql::FunctionDef> concrete_function(const sql::CatalogSnapshot&, std::shared_ptr<const sql::FunctionDef>,
                                                          std::span<const sql::Type> arguments);
/// Returns true if the function's results are rows: several columns, or a row type.
bool returns_rows(const sql::FunctionDef&);

/// Returns true if the body can be inlined.
bool is_inlinable(const BindState&, const sql::FunctionDef&);
/// The body's rows, in the function's columns. `frame`: how columns in the arguments arrive.
LogicalPtr bind_function_rows(BindState&, const SqlFunctionCall&, CorrelationFrame& frame);
/// The value of a call as an expression over the arguments; null where the body is more than that.
sql::ExpressionPtr inline_function(BindState&, const SqlFunctionCall&);

/// Returns the value of a call of a function of an extension, whose body is compiled in. 42883 if this redquel has no such body.
sql::ExpressionPtr call_extension_function(const SqlFunctionCall&);

/// The value of a call whose body is run.
sql::ExpressionPtr run_function(BindState&, const SqlFunctionCall&);
/// All rows of such a call: its columns, or each as one value. The arguments have no columns.
LogicalPtr run_function_rows(BindState&, const SqlFunctionCall&, std::vector<sql::ExpressionPtr> arguments, const std::string& alias,
                             bool as_values);
/// Returns the fields of a call of `user_function_call`; nullopt: no record.
std::optional<std::vector<sql::ResultColumn>> record_columns(const sql::FunctionCall&);

/// $1 in a body. 42P02 where there is no such parameter.
sql::ExpressionPtr function_parameter(const FunctionScope&, std::int32_t number, std::optional<std::uint32_t> offset);
/// `name` or `function.name` in a body; null: no parameter is called so.
sql::ExpressionPtr function_parameter(const FunctionScope&, std::string_view relation, std::string_view name);

/// f(integer, text): as messages name it. Those about dependencies have no blank `between`.
std::string signature_of(const sql::FunctionDef&, std::string_view between = ", ");

}  // namespace redquel::planner
