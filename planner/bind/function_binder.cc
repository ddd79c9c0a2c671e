#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "planner/bind/bind_type.h"
#include "planner/bind/built_in_call.h"
#include "planner/bind/domain.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/named_arguments.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/row_shape.h"
#include "planner/bind/sql_function.h"
#include "sql/error.h"
#include "sql/functions/range_functions.h"
#include "sql/functions/resolve.h"
#include "sql/functions/variadic_calls.h"
#include "sql/functions/window_function.h"
#include "sql/name_errors.h"
#include "sql/relation_sizes.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::CastContext;
using sql::ExpressionPtr;
using sql::SqlError;
using sql::Type;

namespace {

std::vector<Type> types_of(const std::vector<ExpressionPtr>& expressions) {
  std::vector<Type> types;
  for (const ExpressionPtr& expression : expressions) types.push_back(expression->type);
  return types;
}

/// Returns true if the word VARIADIC has an effect in the call. Aggregates and window functions take no variadic arguments; before WITHIN
/// GROUP the grammar refuses it.
bool spreads_array(const ast::FunctionCall& call, const std::string& name) {
  if (!call.variadic) return false;
  return sql::find_aggregates(name).empty() && sql::find_window_functions(name).empty() && !call.over;
}

/// The column of a call that is there already: ORDER BY repeats what the select list says.
std::optional<ExpressionPtr> find_call(const PendingSubquery& pending, const sql::TableFunction& function,
                                       const std::vector<ExpressionPtr>& arguments) {
  if (!pending.plan) return std::nullopt;
  const auto& calls = std::get<LogicalFunctionScan>(pending.plan->node).calls;
  std::size_t first = 0;
  for (const TableFunctionCall& call : calls) {
    const std::size_t own = call.function != nullptr ? call.function->columns.size() : 1;
    const std::size_t width = call.columns.empty() ? own : call.columns.size();
    const auto same = [](const ExpressionPtr& a, const ExpressionPtr& b) { return sql::equal(*a, *b) && !sql::is_volatile(*a); };
    if (width == 1 && call.function == &function && std::ranges::equal(call.arguments, arguments, same)) {
      return reference(pending.plan->columns[first]);
    }
    first += width;
  }
  return std::nullopt;
}

/// name(row), where no function takes the row: its field of that name (manual 38.5.3). nullptr: it is something else.
ExpressionPtr field_by_call(const BindState& state, const ast::FunctionCall& call, const std::vector<ExpressionPtr>& arguments,
                            std::optional<std::uint32_t> offset) {
  const bool is_plain = call.name.size() == 1 && call.arguments.size() == 1 && call.arguments[0].name.empty() && call.order_by.empty() &&
                        !call.distinct && !call.filter;
  if (!is_plain || arguments.size() != 1 || !sql::is_row_type(arguments[0]->type.oid)) return nullptr;
  const std::optional<std::vector<RowField>> fields = row_shape(state, *arguments[0]);
  if (!fields) return nullptr;
  const auto found = std::ranges::find(*fields, call.name[0], &RowField::name);
  if (found == fields->end()) return nullptr;
  return sql::try_resolve_function(call.name[0], types_of(arguments), offset) ? nullptr : found->value;
}

/// Returns true in the body of a function that is declared IMMUTABLE, whatever it calls.
bool is_in_immutable_body(const BindState& state) {
  for (const FunctionScope* scope = state.function; scope != nullptr; scope = scope->outer) {
    if (scope->definition->volatility == sql::FunctionDef::Volatility::kImmutable) return true;
  }
  return false;
}

/// Returns the function as an immutable one.
const sql::ScalarFunction* immutable_form(const sql::ScalarFunction& function) {
  static std::mutex mutex;
  static std::map<const sql::ScalarFunction*, sql::ScalarFunction> forms;
  const std::lock_guard lock(mutex);
  sql::ScalarFunction form = function;
  form.volatility = sql::Volatility::kImmutable;
  return &forms.try_emplace(&function, std::move(form)).first->second;
}

/// Returns the call of a function of an extension. A body that is declared IMMUTABLE makes it immutable: unaccent() in indexes and generated
/// columns is called so.
ExpressionPtr extension_call(const BindState& state, const SqlFunctionCall& call) {
  const ExpressionPtr value = call_extension_function(call);
  if (!is_in_immutable_body(state)) return value;
  const auto& made = std::get<sql::FunctionCall>(value->node);
  return sql::make_expression(value->type, sql::FunctionCall{immutable_form(*made.function), made.arguments});
}

}  // namespace

void check_plain_call(const ast::FunctionCall& call, std::optional<std::uint32_t> offset) {
  const std::string name = fmt::format("{}", fmt::join(call.name, "."));
  const auto refuse = [&](std::string_view what, std::string_view kind = "an aggregate function") {
    return SqlError(sqlstate::kWrongObjectType, fmt::format("{} specified, but {} is not {}", what, name, kind)).at(offset);
  };
  if (call.star) throw refuse(fmt::format("{}(*)", name));
  if (call.distinct) throw refuse("DISTINCT");
  if (call.within_group) throw refuse("WITHIN GROUP");
  if (!call.order_by.empty()) throw refuse("ORDER BY");
  if (call.filter) throw refuse("FILTER");
  if (call.over) throw refuse("OVER", "a window function nor an aggregate function");
}

std::string function_name(const BindState& state, const ast::QualifiedName& name, std::optional<std::uint32_t> offset) {
  if (name.size() == 1 || (name.size() == 2 && name[0] == "pg_catalog")) return name.back();
  const std::string& schema = name[name.size() - 2];
  std::string joined = schema + "." + name.back();
  if (sql::function_name_exists(joined)) return joined;
  if (!state.catalog.schemas.contains(schema) && schema != "information_schema" && schema != "pg_temp" && schema != sql::kRedisSchema && schema != "redquel") {
    throw sql::undefined_schema(schema).at(offset);
  }
  return joined;
}

namespace {

/// A call by the name of a user-made type: the constructor of a range, or a cast written as a function (manual 4.2.9). nullptr: there
/// is no such type, or nothing leads to it.
ExpressionPtr bind_type_call(BindState& state, const ast::QualifiedName& name, std::vector<ExpressionPtr> arguments,
                             std::optional<std::uint32_t> offset) {
  const std::optional<sql::Oid> oid = find_made_type(name, state.catalog, state.settings.search_path);
  if (!oid) return nullptr;
  if (name.size() > 1) check_schema_usage(state, name[name.size() - 2], offset);
  const bool is_range = sql::find_user_range(*oid) != nullptr;
  const bool is_untyped = arguments.size() == 1 && arguments[0]->type.oid == sql::oid::kUnknown;
  if (is_range && !is_untyped) {
    const sql::ResolvedFunction resolved =
        sql::resolve_overload(fmt::format("{}", fmt::join(name, ".")), sql::range_constructors(*oid), types_of(arguments), offset);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      arguments[i] = coerce(state, arguments[i], resolved.arguments[i], CastContext::kImplicit);
    }
    return sql::make_expression(resolved.result, sql::FunctionCall{resolved.function, std::move(arguments)}, offset);
  }
  if (arguments.size() != 1) return nullptr;
  const sql::UserType* type = sql::find_user_type(*oid);
  const bool is_domain = type != nullptr && type->kind == sql::UserType::Kind::kDomain;
  const sql::Type target = is_domain ? type->base : sql::Type{*oid};
  if (!sql::can_coerce(arguments[0]->type, target, CastContext::kExplicit)) return nullptr;
  return into_domain(state.catalog, state.settings, coerce(state, arguments[0], target, CastContext::kExplicit, offset), is_domain ? *oid : 0);
}

}  // namespace

ExpressionPtr ExpressionBinder::call(std::string_view function, Operands arguments, std::optional<std::uint32_t> offset,
                                     std::string_view shown) {
  const sql::ResolvedFunction resolved = sql::resolve_function(function, types_of(arguments), offset, shown);
  return call_resolved(resolved, std::move(arguments), offset);
}

ExpressionPtr ExpressionBinder::call_resolved(const sql::ResolvedFunction& resolved, Operands arguments, std::optional<std::uint32_t> offset) {
  if (resolved.function == nullptr) return coerce(state_, arguments[0], resolved.result, CastContext::kExplicit, offset);
  require_execute(state_, resolved.function->name, resolved.function->arguments);
  state_.sizes_asked = std::max(state_.sizes_asked, sql::sizes_asked_by(*resolved.function));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = coerce(state_, arguments[i], resolved.arguments[i], CastContext::kImplicit);
  }
  return sql::make_expression(resolved.result, sql::FunctionCall{resolved.function, std::move(arguments)}, offset);
}

ExpressionBinder::CallArguments ExpressionBinder::bind_call_arguments(const ast::FunctionCall& function, std::string_view name,
                                                                      std::optional<std::uint32_t> offset) {
  Operands arguments, keys;
  for (const ast::Argument& argument : function.arguments) arguments.push_back(bind(*argument.value));
  if (function.within_group) {
    for (const ast::SortKey& key : function.order_by) keys.push_back(bind(*key.value));
  }
  ExpressionPtr filter = bind_filter(function);
  arguments = arrange_arguments(state_, name, function.arguments, std::move(arguments), offset);
  drop_output_parameters(arguments);
  arguments.insert(arguments.end(), keys.begin(), keys.end());
  return {std::move(arguments), std::move(filter)};
}

ExpressionPtr ExpressionBinder::bind_filter(const ast::FunctionCall& function) {
  if (!function.filter) return nullptr;
  Scoped clause(level_.clause, Clause::kFilter);
  return bind_boolean(*function.filter, "FILTER");
}

ExpressionPtr ExpressionBinder::node(const ast::FunctionCall& function, const Whole& whole) {
  if (function.order_by.size() < 2 || function.within_group) return bind_call(function, whole);
  try {
    return bind_call(function, whole);
  } catch (const SqlError& error) {
    if (error.sqlstate() != sqlstate::kUndefinedFunction || error.position() != token(whole)) throw;
    throw SqlError(sqlstate::kUndefinedFunction, error.message())
        .hint("No aggregate function matches the given name and argument types. Perhaps you misplaced ORDER BY; ORDER BY must appear after all "
              "regular arguments of the aggregate.")
        .at(error.position());
  }
}

ExpressionPtr ExpressionBinder::bind_call(const ast::FunctionCall& function, const Whole& whole) {
  const auto offset = token(whole);
  if (is_sql_function(state_, function.name)) {
    if (const ExpressionPtr value = bind_sql_call(function, whole)) return value;
  }
  const std::string name = function_name(state_, function.name, offset);
  if (spreads_array(function, name)) {
    Operands arguments = bind_call_arguments(function, name, offset).values;
    const sql::ResolvedFunction resolved = sql::resolve_variadic_call(name, types_of(arguments), offset, arguments.back()->offset);
    check_plain_call(function, offset);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      arguments[i] = coerce(state_, arguments[i], resolved.arguments[i], CastContext::kImplicit);
    }
    return sql::make_expression(resolved.result, sql::FunctionCall{resolved.function, std::move(arguments)}, start(whole));
  }
  if (const ExpressionPtr special = bind_special_call(function, name, whole)) return special;
  if (function.over) return bind_window_call(function, name, whole);
  if (function.within_group && is_hypothetical_set(name)) return bind_hypothetical_set(function, name, whole);
  if (!sql::find_window_functions(name).empty()) {
    const Operands arguments = bind_call_arguments(function, name, offset).values;
    if (is_hypothetical_set(name) && !function.arguments.empty()) {
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("WITHIN GROUP is required for ordered-set aggregate {}", name)).at(offset);
    }
    sql::resolve_window_function(name, types_of(arguments), offset);
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("window function {} requires an OVER clause", name)).at(offset);
  }
  if (!sql::find_aggregates(name).empty()) return bind_aggregate(function, name, whole);
  if (sql::find_functions(name).empty() && !sql::find_table_functions(name).empty()) {
    return bind_set_returning(function, name, whole);
  }
  Operands arguments = bind_call_arguments(function, name, offset).values;
  if (const ExpressionPtr field = field_by_call(state_, function, arguments, offset)) return with_offset(field, start(whole));
  if (sql::find_functions(name).empty()) {
    if (const ExpressionPtr made = bind_type_call(state_, function.name, arguments, offset)) {
      check_plain_call(function, offset);
      return with_offset(made, start(whole));
    }
  }
  // SUBSTRING(x FROM 1) and the like: messages say the schema where the statement (or the grammar) does.
  const std::string shown = function.name[0] == "pg_catalog" ? "pg_catalog." + name : name;
  const sql::ResolvedFunction resolved = sql::resolve_function(name, types_of(arguments), offset, shown);
  check_plain_call(function, offset);
  return with_offset(call_resolved(resolved, std::move(arguments), offset), start(whole));
}

namespace {

/// Throws 0A000 if the body of a function cannot be run in this clause.
void check_body_allowed(const QueryLevel& level, std::optional<std::uint32_t> offset) {
  switch (level.clause) {
    case Clause::kCheck:
    case Clause::kGenerated:
    case Clause::kIndexExpression:
    case Clause::kIndexPredicate:
    case Clause::kTriggerWhen:
      throw sql::not_supported(fmt::format("a function whose body must be run, in {},", clause_place(level.clause)), offset);
    default:
      return;
  }
}

}  // namespace

ExpressionPtr ExpressionBinder::bind_sql_call(const ast::FunctionCall& function, const Whole& whole) {
  const auto offset = token(whole);
  const std::string& name = function.name.back();
  Operands arguments;
  for (const ast::Argument& argument : function.arguments) arguments.push_back(bind(*argument.value));
  if (function.name.size() == 1 && sql::function_name_exists(name) && !fits_better_than_built_in(state_, function, arguments)) {
    if (sql::find_functions(name).empty()) return nullptr;  // aggregates and their like are called in other ways
    if (sql::try_resolve_function(name, types_of(arguments), offset)) return nullptr;
  }
  bind_filter(function);
  SqlFunctionCall call = resolve_sql_function(state_, function, std::move(arguments), offset);
  if (call.function->window) {
    if (!function.over) throw SqlError(sqlstate::kWrongObjectType, fmt::format("window function {} requires an OVER clause", name)).at(offset);
    // The arguments of a window function are for the language that it is written in to fetch, which SQL cannot: they are NULL.
    for (ExpressionPtr& argument : call.arguments) argument = sql::make_constant(argument->type, {});
    check_window_function_call(function, offset);
  }
  if (call.function->language == "c") return with_offset(extension_call(state_, call), start(whole));
  if (call.function->returns_set) return run_set_returning(call, whole);
  if (is_inlinable(state_, *call.function)) {
    if (const ExpressionPtr value = inline_function(state_, call)) return with_offset(value, start(whole));
    if (level_.clause != Clause::kDefault) {  // beside which no query can stand
      check_body_allowed(level_, offset);
      PendingSubquery pending{.name = name, .type = call.function->result, .kind = LogicalApply::Kind::kScalar};
      pending.plan = bind_function_rows(state_, call, pending.correlations);
      return add_subquery(std::move(pending), start(whole));
    }
  }
  const ExpressionPtr value = with_offset(run_function(state_, call), start(whole));
  if (runs_in_place()) return value;
  // There evaluation cannot wait for it: it is computed before.
  check_body_allowed(level_, offset);
  PendingSubquery pending{.name = name, .type = value->type, .kind = LogicalApply::Kind::kScalar};
  const ExpressionPtr over_slots = columns_to_slots(state_, pending.correlations, value);
  pending.plan = make_project(state_, one_row(), {{over_slots, name}});
  return add_subquery(std::move(pending), start(whole));
}

bool ExpressionBinder::runs_in_place() const {
  if (level_.inside_aggregate || level_.inside_window) return false;
  switch (level_.clause) {
    case Clause::kSelectList:
    case Clause::kWhere:
    case Clause::kHaving:
    case Clause::kGroupBy:
    case Clause::kOrderBy:
    case Clause::kDistinctOn:
    case Clause::kValues:
    case Clause::kInsertValues:
    case Clause::kUpdateSource:
    case Clause::kFromFunction:
    case Clause::kDefault:
    case Clause::kMergeWhen:
    case Clause::kNone:
      return true;
    default:
      return false;
  }
}

ExpressionPtr ExpressionBinder::run_set_returning(const SqlFunctionCall& call, const Whole& whole) {
  check_set_returning_allowed(whole);
  std::vector<ExpressionPtr> arguments = call.arguments;
  PendingSubquery& pending = pending_set_returning(call.function->name, arguments);
  const bool gives_rows = returns_rows(*call.function) && !call.function->columns.empty();
  const LogicalPtr plan = run_function_rows(state_, call, std::move(arguments), call.function->name, !gives_rows);
  const std::vector<LogicalColumn> columns = plan->columns;
  pending.plan = pending.plan ? scan_beside(pending.plan, plan) : plan;
  return gives_rows ? row_of_columns(call.function->result, columns, false, whole) : reference(columns[0], start(whole));
}

ExpressionPtr ExpressionBinder::row_of_columns(Type type, const std::vector<LogicalColumn>& columns, bool null_extended,
                                               const Whole& whole) {
  std::vector<std::string> names;
  Operands fields;
  for (const LogicalColumn& column : columns) {
    names.push_back(column.name);
    fields.push_back(reference(column));
  }
  return named_row(type, names, std::move(fields), null_extended, start(whole));
}

void ExpressionBinder::check_set_returning_allowed(const Whole& whole) const {
  const auto offset = token(whole);
  if (level_.inside_aggregate) {
    throw SqlError(sqlstate::kFeatureNotSupported, "aggregate function calls cannot contain set-returning function calls")
        .hint("You might be able to move the set-returning function into a LATERAL FROM item.")
        .at(offset);
  }
  if (level_.inside_window) {
    throw SqlError(sqlstate::kFeatureNotSupported, "window function calls cannot contain set-returning function calls")
        .hint("You might be able to move the set-returning function into a LATERAL FROM item.")
        .at(offset);
  }
  switch (level_.clause) {
    case Clause::kSelectList:
    case Clause::kGroupBy:
    case Clause::kOrderBy:
    case Clause::kDistinctOn:
    case Clause::kInsertValues:
      break;
    case Clause::kValues:
      throw SqlError(sqlstate::kFeatureNotSupported, "set-returning functions are not allowed in VALUES").at(offset);
    case Clause::kFromFunction:
      throw SqlError(sqlstate::kFeatureNotSupported, "set-returning functions must appear at top level of FROM").at(offset);
    case Clause::kWindowPartition:
    case Clause::kWindowOrder:
      throw sql::not_supported("set-returning function in a window definition", offset);
    default:
      throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("set-returning functions are not allowed in {}", clause_place(level_.clause)))
          .at(offset);
  }
  if (level_.conditional != nullptr) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("set-returning functions are not allowed in {}", level_.conditional))
        .hint("You might be able to move the set-returning function into a LATERAL FROM item.")
        .at(offset);
  }
}

PendingSubquery& ExpressionBinder::pending_set_returning(const std::string& name, Operands& arguments) {
  std::size_t depth = 0;
  for (const ExpressionPtr& argument : arguments) depth = std::max(depth, set_returning_depth(*argument));
  if (depth == level_.set_returning.size()) {
    level_.set_returning.push_back(level_.subqueries.size());
    level_.subqueries.push_back({.name = name, .kind = LogicalApply::Kind::kLateral});
  }
  PendingSubquery& pending = level_.subqueries[level_.set_returning[depth]];
  for (ExpressionPtr& argument : arguments) argument = columns_to_slots(state_, pending.correlations, argument);
  return pending;
}

ExpressionPtr ExpressionBinder::bind_set_returning(const ast::FunctionCall& function, const std::string& name,
                                                   const Whole& whole) {
  const auto offset = token(whole);
  Operands arguments = bind_call_arguments(function, name, offset).values;
  const sql::ResolvedTableFunction resolved = sql::resolve_table_function(name, types_of(arguments), offset);
  require_execute(state_, name, resolved.function->arguments);
  check_plain_call(function, offset);
  check_set_returning_allowed(whole);
  std::vector<sql::ResultColumn> record;
  sql::Type row_type{sql::oid::kRecord};
  if (resolved.function->columns.empty()) {
    const auto shape = row_shape(*arguments[0]);
    if (!shape && name.find("_populate_record") != std::string::npos) {
      throw SqlError(sqlstate::kFeatureNotSupported, "could not determine row type for result of " + name)
          .hint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list.");
    }
    if (arguments.size() < 2 || !shape) {
      throw SqlError(sqlstate::kFeatureNotSupported, "function returning record called in context that cannot accept type record")
          .hint("Try calling the function in the FROM clause using a column definition list.");
    }
    for (const RowField& field : *shape) record.push_back({field.name, field.value->type});
    row_type = arguments[0]->type;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = coerce(state_, arguments[i], resolved.arguments[i], CastContext::kImplicit);
  }
  PendingSubquery& pending = pending_set_returning(name, arguments);
  if (const auto known = find_call(pending, *resolved.function, arguments)) return with_offset(*known, start(whole));
  const bool gives_rows = !record.empty() || resolved.function->columns.size() > 1;
  const LogicalPtr plan = scan_function(state_, resolved, std::move(arguments), name, false, std::move(record));
  const std::vector<LogicalColumn> columns = plan->columns;
  pending.plan = pending.plan ? scan_beside(pending.plan, plan) : plan;
  // If another function of the select list gives more rows, this one has no row there. A missing row of several columns is NULL, not a row
  // of NULLs.
  const bool null_extended = resolved.function->columns.size() > 1;
  return gives_rows ? row_of_columns(row_type, columns, null_extended, whole) : reference(columns[0], start(whole));
}

std::size_t ExpressionBinder::set_returning_depth(const sql::Expression& expression) const {
  std::vector<ColumnId> columns;
  sql::collect_columns(expression, columns);
  std::size_t depth = 0;
  for (std::size_t i = 0; i < level_.set_returning.size(); ++i) {
    const LogicalPtr& plan = level_.subqueries[level_.set_returning[i]].plan;
    for (const ColumnId id : columns) {
      if (plan && find_column(*plan, id) != nullptr) depth = i + 1;
    }
  }
  return depth;
}

ExpressionPtr ExpressionBinder::node(const ast::SqlValueFunction& value, const Whole& whole) {
  const auto offset = start(whole);
  const auto now_as = [&](Type type) {
    if (value.precision) type.modifier = *value.precision;
    return with_offset(coerce(state_, call("now", {}, offset), type, CastContext::kExplicit), offset);
  };
  switch (value.function) {
    case ast::ValueFunction::kCurrentDate:
      return now_as(sql::kDate);
    case ast::ValueFunction::kCurrentTime:
      return now_as(sql::kTimetz);
    case ast::ValueFunction::kCurrentTimestamp:
      return now_as(sql::kTimestamptz);
    case ast::ValueFunction::kLocalTime:
      return now_as(sql::kTime);
    case ast::ValueFunction::kLocalTimestamp:
      return now_as(sql::kTimestamp);
    case ast::ValueFunction::kCurrentRole:
    case ast::ValueFunction::kCurrentUser:
    case ast::ValueFunction::kUser:
      return call("current_user", {}, offset);
    case ast::ValueFunction::kSessionUser:
      return call("session_user", {}, offset);
    case ast::ValueFunction::kCurrentCatalog:
      return call("current_database", {}, offset);
    case ast::ValueFunction::kCurrentSchema:
      return call("current_schema", {}, offset);
  }
  throw sql::not_supported("SQL value function", offset);
}

}  // namespace redquel::planner
