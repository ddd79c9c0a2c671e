#include "planner/bind/sql_function.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/parse.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/function_body.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/function_text.h"
#include "sql/error.h"
#include "sql/extensions/extension.h"
#include "sql/functions/user_function_call.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/array_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::FunctionDef;
using sql::SqlError;

namespace {

/// Calls within calls; each stands in the plan as a whole.
constexpr std::size_t kNestedCalls = 100;

std::shared_ptr<const ast::Select> parse_body(const FunctionDef& function) {
  auto statement = parser::parse_statement(function.body);
  return {statement, &std::get<ast::Select>(statement->node)};
}

/// SELECT value, and nothing else.
bool is_bare_value(const ast::Select& query) {
  return query.targets.size() == 1 && query.from.empty() && !query.where && query.group_by.empty() && !query.having &&
         query.values.empty() && query.set_operator == ast::SetOperator::kNone && query.order_by.empty() && !query.limit_count &&
         !query.limit_offset && !query.with && !query.distinct && query.windows.empty() && query.locking.empty();
}

/// Binds a body: its positions are those of another text, and it sees nothing of the statement around it.
template <class Bind>
auto bind_body(BindState& state, const SqlFunctionCall& call, std::vector<ExpressionPtr> arguments, const Bind& bind) {
  sql::check_stack_depth();
  state.count_query();
  std::size_t depth = 0;
  for (const FunctionScope* outer = state.function; outer != nullptr; outer = outer->outer) {
    if (++depth > kNestedCalls) throw sql::stack_depth_exceeded();
  }
  const FunctionScope scope{call.function.get(), std::move(arguments), state.function};
  const std::shared_ptr<const ast::Select> query = parse_body(*call.function);
  state.keep_alive(query);
  const Scoped<const FunctionScope*> function(state.function, &scope);
  const Scoped<const VariableScope*> variables(state.variables, nullptr);
  const Scoped positions(state.keeps_positions, false);
  const Scoped<NameUses*> names(state.names, nullptr);
  // The body's relations are read with the rights of the role that runs the statement, also inside a view.
  const Scoped<std::optional<sql::Oid>> bound_as(state.requirements.bound_as, std::nullopt);
  const Scoped checks_schemas(state.checks_schemas, !call.function->standard_body);
  return bind(*query);
}

ExpressionPtr in_result_type(BindState& state, const ExpressionPtr& value, sql::Type type) {
  const ExpressionPtr converted = try_coerce(state, value, type, sql::CastContext::kAssignment);
  if (converted) return converted;
  throw SqlError(sqlstate::kInvalidFunctionDefinition,
                 fmt::format("return type mismatch in function declared to return {}", sql::format_type(type)))
      .detail(fmt::format("Actual return type is {}.", sql::format_type(value->type)));
}

bool has_columns(const sql::Expression& expression) {
  std::vector<ColumnId> columns;
  sql::collect_columns(expression, columns);
  return !columns.empty();
}

/// `value` where no argument of a STRICT function is NULL.
ExpressionPtr strict_value(const SqlFunctionCall& call, const ExpressionPtr& value) {
  if (!call.function->strict || call.arguments.empty()) return value;
  std::vector<ExpressionPtr> nulls;
  for (const ExpressionPtr& argument : call.arguments) nulls.push_back(sql::make_expression(sql::kBool, sql::NullTest{argument, false}));
  const ExpressionPtr any = nulls.size() == 1 ? nulls[0] : make_boolean(sql::Logical::Kind::kOr, std::move(nulls));
  sql::CaseCall result;
  result.branches.push_back({any, sql::make_constant(value->type, {})});
  result.otherwise = value;
  return sql::make_expression(value->type, std::move(result));
}

/// The arguments of a call whose body is run (user_function_call.h).
std::vector<ExpressionPtr> with_head(const FunctionDef& function, const std::vector<FunctionDef::Column>& columns,
                                     std::vector<ExpressionPtr> arguments) {
  std::string names;
  sql::append_array_element(function.name, names);
  for (const FunctionDef::Column& column : columns) sql::append_array_element(column.name, names);
  sql::finish_array_text(names);
  std::vector<ExpressionPtr> all = {sql::make_constant(sql::kTextArray, names),
                                    sql::make_constant(sql::kInt4, static_cast<std::int32_t>(function.oid))};
  for (const FunctionDef::Column& column : columns) all.push_back(sql::make_constant(column.type, {}));
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

void note_run(BindState& state, const FunctionDef& function) {
  state.runs_functions = state.runs_functions || function.volatility == FunctionDef::Volatility::kVolatile;
}

}  // namespace

bool is_inlinable(const BindState& state, const FunctionDef& function) {
  if (function.procedure || function.result.oid == sql::oid::kVoid) return false;
  if (!sql::function_settings(function).empty() || function.is_security_definer()) return false;
  // If the statement's rights are not collected, the right to call is checked at run time. In every case the result has one row, even if
  // the query gives none; a record's fields are known from the query alone.
  if (function.acl && state.settings.rights == nullptr) return false;
  // One row is there even where the query gives none; of a record only the query says what it is.
  if (returns_rows(function) && (!function.returns_set || function.columns.empty())) return false;
  for (const FunctionScope* outer = state.function; outer != nullptr; outer = outer->outer) {
    if (outer->definition->oid == function.oid) return false;
  }
  return is_one_query(function);
}

LogicalPtr bind_function_rows(BindState& state, const SqlFunctionCall& call, CorrelationFrame& frame) {
  const FunctionDef& function = *call.function;
  // An argument that is constant for all rows and cheap may be inlined into the body.
  std::vector<ExpressionPtr> arguments;
  for (const ExpressionPtr& argument : call.arguments) {
    const bool passes = !has_columns(*argument) && !sql::is_volatile(*argument);
    arguments.push_back(passes ? argument : correlate(state, frame, argument));
  }
  const SqlFunctionCall inner{call.function, arguments};
  return bind_body(state, inner, arguments, [&](const ast::Select& query) {
    LogicalPtr plan = bind_query(state, nullptr, nullptr, query).plan;
    std::vector<sql::Type> types;
    for (const LogicalColumn& column : plan->columns) types.push_back(column.type);
    check_result_types(function, types, state.settings.session);
    std::vector<ExpressionPtr> values;
    for (const LogicalColumn& column : plan->columns) values.push_back(reference(column));
    if (is_whole_row(function, types)) values = fields_of_row(function, values[0], state.settings.session);
    std::vector<OutputValue> outputs;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool one = function.columns.empty();
      const sql::Type type = one ? function.result : function.columns[i].type;
      outputs.push_back({in_result_type(state, values[i], type), one ? function.name : function.columns[i].name});
    }
    plan = make_project(state, std::move(plan), outputs);
    if (!function.returns_set) {
      std::vector<LogicalColumn> columns = plan->columns;
      plan = make_logical(LogicalLimit{std::move(plan), sql::make_constant(sql::kInt8, std::int64_t{1}), nullptr}, std::move(columns));
    }
    if (!function.strict) return plan;
    std::vector<ExpressionPtr> given;
    for (const ExpressionPtr& argument : arguments) given.push_back(sql::make_expression(sql::kBool, sql::NullTest{argument, true}));
    return filtered(std::move(plan), std::move(given));
  });
}

ExpressionPtr inline_function(BindState& state, const SqlFunctionCall& call) {
  // A volatile argument must be computed once.
  if (std::ranges::any_of(call.arguments, [](const ExpressionPtr& argument) { return sql::is_volatile(*argument); })) return nullptr;
  return bind_body(state, call, call.arguments, [&](const ast::Select& query) -> ExpressionPtr {
    if (!is_bare_value(query)) return nullptr;
    QueryLevel level{.clause = Clause::kSelectList};
    const ExpressionPtr value = ExpressionBinder(state, level).bind(*query.targets[0].value);
    const bool is_plain = level.subqueries.empty() && level.aggregates.empty() && level.window_calls.empty() && level.groupings.empty();
    if (!is_plain) return nullptr;
    check_repeatable(*value);
    return strict_value(call, in_result_type(state, value, call.function->result));
  });
}

ExpressionPtr call_extension_function(const SqlFunctionCall& call) {
  const sql::ScalarFunction* function = sql::find_extension_function(*call.function);
  if (function == nullptr) {
    throw SqlError(sqlstate::kUndefinedFunction, fmt::format("could not find function \"{}\" in the extensions of this redquel", call.function->body));
  }
  return sql::make_expression(call.function->result, sql::FunctionCall{function, call.arguments});
}

ExpressionPtr run_function(BindState& state, const SqlFunctionCall& call) {
  const FunctionDef& function = *call.function;
  note_run(state, function);
  const bool rows = returns_rows(function);
  std::vector<ExpressionPtr> arguments = with_head(function, rows ? function.columns : std::vector<FunctionDef::Column>{}, call.arguments);
  const bool record = rows && !sql::is_composite_type(function.result.oid);
  const sql::Type type = record ? sql::Type{sql::oid::kRecord} : function.result;
  return sql::make_expression(type, sql::FunctionCall{&sql::user_function_call(), std::move(arguments)});
}

LogicalPtr run_function_rows(BindState& state, const SqlFunctionCall& call, std::vector<ExpressionPtr> arguments, const std::string& alias,
                             bool as_values) {
  const FunctionDef& function = *call.function;
  note_run(state, function);
  const bool rows = returns_rows(function);
  const bool record = rows && !sql::is_composite_type(function.result.oid);
  std::vector<sql::ResultColumn> columns;
  if (rows && !as_values) {
    for (const FunctionDef::Column& column : function.columns) columns.push_back({column.name, column.type});
  } else {
    const std::string& name = function.columns.size() == 1 && !rows ? function.columns[0].name : function.name;
    columns.push_back({name, record ? sql::Type{sql::oid::kRecord} : function.result});
  }
  TableFunctionCall scan{&sql::user_function_rows(),
                         with_head(function, rows && !as_values ? function.columns : std::vector<FunctionDef::Column>{}, std::move(arguments)),
                         columns};
  std::vector<LogicalColumn> outputs;
  for (const sql::ResultColumn& column : columns) outputs.push_back({.id = state.new_column(), .name = column.name, .type = column.type});
  return make_logical(LogicalFunctionScan{{std::move(scan)}, alias, false}, std::move(outputs));
}

std::optional<std::vector<sql::ResultColumn>> record_columns(const sql::FunctionCall& call) {
  if (call.function != &sql::user_function_call()) return std::nullopt;
  const auto constant = [&](std::size_t i) { return std::get<sql::Constant>(call.arguments[i]->node).value; };
  const sql::UserFunctionHead head = sql::read_user_function_head(constant(0), constant(1));
  std::vector<sql::ResultColumn> columns;
  for (std::size_t i = 0; i < head.columns.size(); ++i) columns.push_back({head.columns[i], call.arguments[i + 2]->type});
  return columns;
}

ExpressionPtr function_parameter(const FunctionScope& scope, std::int32_t number, std::optional<std::uint32_t> offset) {
  std::int32_t count = 0;
  for (std::size_t i = 0; i < scope.arguments.size(); ++i) {
    if (scope.definition->parameters[i].mode == FunctionDef::Parameter::Mode::kOut) continue;
    if (++count == number) return scope.arguments[i];
  }
  throw SqlError(sqlstate::kUndefinedParameter, fmt::format("there is no parameter ${}", number)).at(offset);
}

ExpressionPtr function_parameter(const FunctionScope& scope, std::string_view relation, std::string_view name) {
  if (!relation.empty() && relation != scope.definition->name) return nullptr;
  const auto found = std::ranges::find(scope.definition->parameters, name, &FunctionDef::Parameter::name);
  if (found == scope.definition->parameters.end() || name.empty()) return nullptr;
  return scope.arguments[static_cast<std::size_t>(found - scope.definition->parameters.begin())];
}

}  // namespace redquel::planner
