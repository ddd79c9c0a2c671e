#include "planner/bind/sql_function.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/parse.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/rules/rule.h"
#include "sql/error.h"
#include "sql/functions/candidates.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::FunctionDef;
using sql::SqlError;

namespace {

/// Calls within calls; each stands in the plan as a whole.
constexpr std::size_t kNestedCalls = 100;

using FunctionPtr = std::shared_ptr<const FunctionDef>;

/// Those that the name can mean. Of two with the same parameters the one whose schema comes first in the path.
std::vector<FunctionPtr> functions_named(const BindState& state, const ast::QualifiedName& name) {
  std::vector<std::string> schemas = state.settings.search_path;
  if (name.size() > 1) schemas = {name[name.size() - 2]};
  std::vector<FunctionPtr> found;
  for (const std::string& schema : schemas) {
    for (const auto& [oid, function] : state.catalog.functions) {
      if (function->schema != schema || function->name != name.back()) continue;
      const bool hidden = std::ranges::any_of(found, [&](const FunctionPtr& other) {
        return std::ranges::equal(other->parameters, function->parameters,
                                  [](const auto& a, const auto& b) { return a.type.oid == b.type.oid; });
      });
      if (!hidden) found.push_back(function);
    }
  }
  return found;
}

/// Which parameter each written argument is for; nullopt: the function does not take such arguments.
std::optional<std::vector<std::size_t>> places(const FunctionDef& function, const std::vector<ast::Argument>& written) {
  std::vector<std::size_t> result;
  std::vector<bool> given(function.parameters.size(), false);
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::size_t place = i;
    if (!written[i].name.empty()) {
      const auto found = std::ranges::find(function.parameters, written[i].name, &FunctionDef::Parameter::name);
      place = static_cast<std::size_t>(found - function.parameters.begin());
    }
    if (place >= given.size() || given[place]) return std::nullopt;
    given[place] = true;
    result.push_back(place);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i] && function.parameters[i].default_sql.empty()) return std::nullopt;
  }
  return result;
}

std::string written_call(const ast::FunctionCall& call, const std::vector<ExpressionPtr>& bound) {
  std::string types;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (i > 0) types += ", ";
    if (!call.arguments[i].name.empty()) types += call.arguments[i].name + " => ";
    types += sql::format_type(sql::Type{bound[i]->type.oid});
  }
  return fmt::format("function {}({})", fmt::join(call.name, "."), types);
}

std::shared_ptr<const ast::Select> parse_body(const FunctionDef& function) {
  auto statement = std::make_shared<const ast::Statement>(std::move(parser::parse(function.body).at(0).statement));
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
    if (outer->definition->oid == call.function->oid) throw sql::not_supported("recursion in an SQL function");
    if (++depth > kNestedCalls) throw SqlError("54001", "stack depth limit exceeded");
  }
  const FunctionScope scope{call.function.get(), std::move(arguments), state.function};
  const std::shared_ptr<const ast::Select> query = parse_body(*call.function);
  state.keep_alive(query);
  const Scoped<const FunctionScope*> function(state.function, &scope);
  const Scoped positions(state.keeps_positions, false);
  const Scoped<NameUses*> names(state.names, nullptr);
  return bind(*query);
}

ExpressionPtr in_result_type(BindState& state, const ExpressionPtr& value, sql::Type type) {
  const ExpressionPtr converted = try_coerce(state, value, type, sql::CastContext::kAssignment);
  if (converted) return converted;
  throw SqlError("42P13", fmt::format("return type mismatch in function declared to return {}", sql::format_type(type)))
      .detail(fmt::format("Actual return type is {}.", sql::format_type(value->type)));
}

bool has_columns(const sql::Expression& expression) {
  std::vector<ColumnId> columns;
  sql::collect_columns(expression, columns);
  return !columns.empty();
}

}  // namespace

bool is_sql_function(const BindState& state, const ast::QualifiedName& name) {
  return !state.catalog.functions.empty() && !functions_named(state, name).empty();
}

SqlFunctionCall resolve_sql_function(BindState& state, const ast::FunctionCall& call, std::vector<ExpressionPtr> bound,
                                     std::optional<std::uint32_t> offset) {
  std::vector<FunctionPtr> candidates;
  std::vector<std::vector<std::size_t>> candidate_places;
  std::vector<std::vector<sql::Oid>> signatures;
  for (FunctionPtr& function : functions_named(state, call.name)) {
    std::optional<std::vector<std::size_t>> taken = places(*function, call.arguments);
    if (!taken) continue;
    std::vector<sql::Oid> types;
    for (const std::size_t place : *taken) types.push_back(function->parameters[place].type.oid);
    signatures.push_back(std::move(types));
    candidate_places.push_back(std::move(*taken));
    candidates.push_back(std::move(function));
  }
  std::vector<sql::Oid> types;
  for (const ExpressionPtr& argument : bound) types.push_back(argument->type.oid);
  sql::Choice choice{sql::Choice::Outcome::kNone};
  // Without arguments there is nothing to choose by.
  if (!types.empty()) choice = sql::choose_candidate(signatures, types);
  if (types.empty() && candidates.size() == 1) choice = {sql::Choice::Outcome::kFound, 0};
  if (types.empty() && candidates.size() > 1) choice = {sql::Choice::Outcome::kAmbiguous, 0};
  if (choice.outcome == sql::Choice::Outcome::kNone) {
    throw SqlError("42883", written_call(call, bound) + " does not exist")
        .hint("No function matches the given name and argument types. You might need to add explicit type casts.")
        .at(offset);
  }
  if (choice.outcome == sql::Choice::Outcome::kAmbiguous) {
    throw SqlError("42725", written_call(call, bound) + " is not unique")
        .hint("Could not choose a best candidate function. You might need to add explicit type casts.")
        .at(offset);
  }
  SqlFunctionCall result{candidates[choice.index], {}};
  result.arguments.resize(result.function->parameters.size());
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const std::size_t place = candidate_places[choice.index][i];
    result.arguments[place] = coerce(state, bound[i], result.function->parameters[place].type, sql::CastContext::kImplicit);
  }
  for (std::size_t i = 0; i < result.arguments.size(); ++i) {
    if (result.arguments[i]) continue;
    const FunctionDef::Parameter& parameter = result.function->parameters[i];
    const auto written = std::make_shared<const ast::ExpressionPtr>(parser::parse_expression(parameter.default_sql));
    state.keep_alive(written);
    const Scoped positions(state.keeps_positions, false);
    QueryLevel level;
    result.arguments[i] = coerce(state, ExpressionBinder(state, level).bind(**written), parameter.type, sql::CastContext::kAssignment);
  }
  return result;
}

LogicalPtr bind_function_rows(BindState& state, const SqlFunctionCall& call, CorrelationFrame& frame) {
  const FunctionDef& function = *call.function;
  // What is the same for every row, and costs nothing, may stand in the body as it is.
  std::vector<ExpressionPtr> arguments;
  for (const ExpressionPtr& argument : call.arguments) {
    const bool passes = !has_columns(*argument) && !sql::is_volatile(*argument);
    arguments.push_back(passes ? argument : correlate(state, frame, argument));
  }
  const SqlFunctionCall inner{call.function, arguments};
  return bind_body(state, inner, arguments, [&](const ast::Select& query) {
    LogicalPtr plan = bind_query(state, nullptr, nullptr, query).plan;
    if (plan->columns.size() != std::max<std::size_t>(function.columns.size(), 1)) {
      throw SqlError("42P13", fmt::format("return type mismatch in function declared to return {}", sql::format_type(function.result)))
          .detail(plan->columns.size() < function.columns.size() ? "Final statement returns too few columns."
                  : function.columns.empty()                     ? "Final statement must return exactly one column."
                                                                 : "Final statement returns too many columns.");
    }
    std::vector<OutputValue> outputs;
    for (std::size_t i = 0; i < plan->columns.size(); ++i) {
      const bool one = function.columns.empty();
      const sql::Type type = one ? function.result : function.columns[i].type;
      outputs.push_back({in_result_type(state, reference(plan->columns[i]), type), one ? function.name : function.columns[i].name});
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
  // What gives another value each time must be computed once.
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

ExpressionPtr function_parameter(const FunctionScope& scope, std::int32_t number, std::optional<std::uint32_t> offset) {
  if (number < 1 || static_cast<std::size_t>(number) > scope.arguments.size()) {
    throw SqlError("42P02", fmt::format("there is no parameter ${}", number)).at(offset);
  }
  return scope.arguments[static_cast<std::size_t>(number) - 1];
}

ExpressionPtr function_parameter(const FunctionScope& scope, std::string_view relation, std::string_view name) {
  if (!relation.empty() && relation != scope.definition->name) return nullptr;
  const auto found = std::ranges::find(scope.definition->parameters, name, &FunctionDef::Parameter::name);
  if (found == scope.definition->parameters.end() || name.empty()) return nullptr;
  return scope.arguments[static_cast<std::size_t>(found - scope.definition->parameters.begin())];
}

void check_function(const FunctionDef& function, const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  BindState state(catalog, settings, {}, 0);
  SqlFunctionCall call{std::make_shared<const FunctionDef>(function), {}};
  // Arguments that are anything: slots of their own.
  for (const FunctionDef::Parameter& parameter : function.parameters) {
    call.arguments.push_back(sql::make_expression(parameter.type, sql::ParameterRef{state.new_slot()}));
  }
  CorrelationFrame frame;
  bind_function_rows(state, call, frame);
}

std::string signature_of(const FunctionDef& function) {
  std::string types;
  for (const FunctionDef::Parameter& parameter : function.parameters) {
    types += (types.empty() ? "" : ", ") + sql::format_type(sql::Type{parameter.type.oid});
  }
  return fmt::format("{}({})", function.name, types);
}

}  // namespace redquel::planner
