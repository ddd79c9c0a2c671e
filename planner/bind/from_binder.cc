#include "planner/bind/from_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/bind_type.h"
#include "planner/bind/built_in_call.h"
#include "planner/bind/collation.h"
#include "planner/bind/column_name.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/locking.h"
#include "planner/bind/name_lookup.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/named_arguments.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/row_security.h"
#include "planner/bind/row_shape.h"
#include "planner/bind/sql_function.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/view_check.h"
#include "planner/bind/view_query.h"
#include "planner/bind/with.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/system_tables.h"
#include "sql/types/row_value.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// Every item is a level of the plan, which is walked recursively from here on.
constexpr std::size_t kRelations = 1'000;

void set_lateral(Namespace& names, bool lateral_only, bool lateral_ok) {
  for (NamespaceItem& item : names) {
    item.lateral_only = lateral_only;
    item.lateral_ok = lateral_ok;
  }
}

/// 42712: two items of one name, unless both are relations (of different schemas) under their own names.
void check_conflicts(const Namespace& left, const Namespace& right) {
  for (const NamespaceItem& a : left) {
    for (const NamespaceItem& b : right) {
      if (!a.by_name || !b.by_name || a.relation->name != b.relation->name) continue;
      if (are_different_relations(*a.relation, *b.relation)) continue;
      throw sql::table_name_listed_twice(a.relation->name);
    }
  }
}

}  // namespace

LogicalPtr FromBinder::bind(const std::vector<ast::FromItem>& items) {
  return items.empty() ? one_row() : bind_beside(nullptr, items);
}

LogicalPtr FromBinder::bind_beside(LogicalPtr target, const std::vector<ast::FromItem>& items) {
  if (items.size() > kRelations) throw SqlError(sqlstate::kProgramLimitExceeded, "too many range table entries");
  FromPart all{.plan = std::move(target)};
  for (const ast::FromItem& from_item : items) {
    FromPart part = bind_item(from_item);
    check_conflicts(level_.names, part.names);
    set_lateral(part.names, true, true);
    level_.names.insert(level_.names.end(), part.names.begin(), part.names.end());
    all = all.plan ? join(JoinKind::kInner, std::move(all), std::move(part), nullptr) : std::move(part);
  }
  set_lateral(level_.names, false, true);
  return all.plan;
}

LogicalPtr FromBinder::bind_merge(LogicalPtr target, const ast::FromItem& source, const ast::Expression& on, JoinKind kind) {
  FromPart part = bind_item(source);
  for (const NamespaceItem& item : part.names) {
    if (!item.by_name || item.relation->name != level_.names[0].relation->name) continue;
    throw SqlError(sqlstate::kDuplicateAlias, fmt::format("name \"{}\" specified more than once", item.relation->name))
        .detail("The name is used both as MERGE target table and data source.");
  }
  level_.names.insert(level_.names.end(), part.names.begin(), part.names.end());
  set_lateral(level_.names, false, true);
  Scoped clause(level_.clause, Clause::kJoinOn);
  const sql::ExpressionPtr condition = ExpressionBinder(state_, level_).bind_boolean(on, "JOIN/ON");
  FromPart existing{.plan = std::move(target)};
  return join(kind, std::move(part), std::move(existing), condition).plan;
}

FromPart FromBinder::bind_item(const ast::FromItem& from_item) {
  sql::check_stack_depth();
  FromPart part = std::visit([&](const auto& kind) { return item(kind, from_item.offset); }, from_item.node);
  if (state_.names != nullptr) state_.names->note_source(from_item, level_.range_table.back(), !part.lateral.empty());
  return part;
}

FoundTable FromBinder::find_from_table(const ast::RelationName& name) {
  try {
    return find_table(state_, name);
  } catch (const SqlError& error) {
    if (error.sqlstate() != sqlstate::kUndefinedTable || !name.schema.empty() || !is_future_with(level_.with, name.name)) throw;
    throw SqlError(sqlstate::kUndefinedTable, error.message())
        .detail(fmt::format("There is a WITH item named \"{}\", but it cannot be referenced from this part of the query.", name.name))
        .hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.")
        .at(error.position());
  }
}

FromPart FromBinder::item(const ast::TableRef& table, std::uint32_t) {
  FromPart part;
  const ast::RelationName& name = table.name;
  const bool bare = name.schema.empty() && name.catalog.empty();
  WithItem* with = bare ? find_with(level_.with, name.name) : nullptr;
  RelationPtr relation;
  if (with != nullptr) {
    part.plan = reference_with(state_, *with, name.offset);
    level_.reads_recursion = level_.reads_recursion || with->working_number.has_value();
    relation = make_relation(level_, *part.plan, part.plan->columns.size(), name.name, nullptr, table.alias, with->collations);
    level_.unlockable.emplace_back(relation->name, "a WITH query");
  } else if (const VariableScope::TransitionTable* rows = bare ? find_transition_table(state_, name.name) : nullptr) {
    part.plan = scan_transition_table(state_, *rows);
    relation = make_relation(level_, *part.plan, part.plan->columns.size(), name.name, nullptr, table.alias);
    level_.unlockable.emplace_back(relation->name, "a named tuplestore");
  } else {
    const FoundTable found = find_from_table(name);
    if (state_.names != nullptr) state_.names->relations[&name] = found.oid();
    const std::string& called = table.alias ? table.alias->name : name.name;
    const std::optional<RowLock> lock = lock_of(level_, called);
    Requirement* const requirement = state_.requirements.add(sql::AclKind::kTable, found.oid(), sql::right::kSelect | (lock ? sql::right::kUpdate : 0));
    if (found.view) {
      if (lock && state_.catalog.sequences.contains(found.view->oid)) {
        throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot lock rows in sequence \"{}\"", found.view->name));
      }
      BoundQuery bound = bind_view(state_, *found.view, lock);
      take_marks(bound);
      part.plan = std::move(bound.plan);
      auto view = std::make_shared<Relation>(Relation{.name = name.name, .view = found.view});
      for (std::size_t i = 0; i + bound.lock_columns < part.plan->columns.size(); ++i) {
        view->columns.push_back({part.plan->columns[i].name, with_column_collation(reference(part.plan->columns[i]), bound.collations[i])});
      }
      set_requirement(*view, requirement);
      apply_alias(*view, table.alias);
      level_.range_table.push_back(view);
      relation = view;
    } else if (found.table) {
      // Views may be made over it.
      if (found.table->materialized && !found.table->populated && state_.names == nullptr) {
        throw SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("materialized view \"{}\" has not been populated", found.table->name))
            .hint("Use the REFRESH MATERIALIZED VIEW command.");
      }
      if (found.table->materialized && lock) {
        throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot lock rows in materialized view \"{}\"", found.table->name));
      }
      const bool has_number = found.table->has_hidden_key() && !found.table->is_mapped();
      const bool has_table_oid = found.table->partition_key.has_value();
      part.plan = visible_rows(state_, found.table, scan_table(state_, found.table, called, lock.has_value() || has_number, has_table_oid), lock.has_value());
      const std::vector<LogicalColumn> row(part.plan->columns.begin(), part.plan->columns.end() - (has_table_oid ? 1 : 0));
      if (lock) add_lock_mark(level_, found.table, called, *lock, row);
      if (table.only && has_table_oid) part.plan = no_rows_of(part.plan);  // it has none of its own
      auto rows = std::make_shared<Relation>(*make_relation(level_, *part.plan, found.table->columns.size(), name.name, found.table, table.alias));
      if (has_number) rows->row_number = reference(row.back());
      if (has_table_oid) rows->hidden.push_back({"tableoid", reference(part.plan->columns.back())});
      set_requirement(*rows, requirement);
      level_.range_table.back() = rows;
      relation = rows;
    } else {
      part.plan = scan_system_table(state_, *found.system);
      auto system = std::make_shared<Relation>(
          Relation{.name = name.name, .system_schema = std::string(found.system->schema), .system_name = std::string(found.system->name)});
      for (const LogicalColumn& column : part.plan->columns) system->columns.push_back({column.name, reference(column)});
      set_requirement(*system, requirement);
      apply_alias(*system, table.alias);
      level_.range_table.push_back(system);
      relation = system;
    }
  }
  part.names.push_back({.relation = relation});
  return part;
}

/// Locks of a subquery that must be taken outside are taken here.
void FromBinder::take_marks(BoundQuery& query) {
  level_.lock_marks.insert(level_.lock_marks.end(), query.lock_marks.begin(), query.lock_marks.end());
}

FromPart FromBinder::item(const ast::SubqueryRef& subquery, std::uint32_t) {
  FromPart part;
  std::size_t visible = 0;
  std::vector<sql::Collation> collations;
  {
    Scoped clause(level_.clause, Clause::kFromSubquery);
    Scoped lateral(level_.lateral_active, subquery.lateral);
    CorrelationScope scope(level_, part.lateral);
    const std::optional<RowLock> lock = lock_of(level_, subquery.alias ? subquery.alias->name : "unnamed_subquery");
    BoundQuery bound = bind_query(state_, &level_, level_.with, *subquery.query, false, lock);
    take_marks(bound);
    part.plan = std::move(bound.plan);
    visible = part.plan->columns.size() - bound.lock_columns;
    collations = std::move(bound.collations);
  }
  const RelationPtr relation = make_relation(level_, *part.plan, visible, "unnamed_subquery", nullptr, subquery.alias, collations);
  part.names.push_back({.relation = relation, .by_name = subquery.alias.has_value()});
  return part;
}

LogicalPtr FromBinder::scalar_function(const ExpressionPtr& value, const std::string& name, bool with_ordinality) {
  std::vector<OutputValue> outputs = {{value, name}};
  if (with_ordinality) outputs.push_back({sql::make_constant(sql::kInt8, std::int64_t{1}), "ordinality"});
  return make_project(state_, one_row(), outputs);
}

std::vector<FromBinder::BoundCall> FromBinder::bind_calls(const ast::FunctionItem& item) {
  const auto* call = std::get_if<ast::FunctionCall>(&item.call->node);
  const bool is_plain = call != nullptr && call->arguments.size() > 1 && !call->variadic && !call->distinct && !call->filter &&
                        call->order_by.empty() && !call->over;
  if (!is_plain || function_name(state_, call->name, state_.position(item.call->offset)) != "unnest") {
    std::vector<BoundCall> one;
    one.push_back(bind_call(item));
    return one;
  }
  // unnest(a, b): each array on its own, side by side.
  std::vector<BoundCall> calls;
  for (const ast::Argument& argument : call->arguments) {
    BoundCall bound{.column_name = default_column_name(state_, *item.call)};
    const ExpressionPtr array = ExpressionBinder(state_, level_).bind(*argument.value);
    const std::vector<sql::Type> types = {array->type};
    bound.function = sql::resolve_table_function("unnest", types, state_.position(item.call->offset), "pg_catalog.unnest");
    bound.arguments = {coerce(state_, array, bound.function->arguments[0], sql::CastContext::kImplicit)};
    calls.push_back(std::move(bound));
  }
  return calls;
}

FromBinder::BoundCall FromBinder::bind_call(const ast::FunctionItem& item) {
  const ast::Expression& written = *item.call;
  const auto* call = std::get_if<ast::FunctionCall>(&written.node);
  const auto offset = state_.position(written.offset);
  const std::string name = call ? function_name(state_, call->name, offset) : "";
  BoundCall bound{.column_name = default_column_name(state_, written)};
  const bool set_returning = call && sql::find_functions(name).empty() && !sql::find_table_functions(name).empty();
  ExpressionBinder binder(state_, level_);
  if (!set_returning) {
    bound.arguments.push_back(resolve_unknown(state_, binder.bind(written)));
    return bound;
  }
  for (const ast::Argument& argument : call->arguments) bound.arguments.push_back(binder.bind(*argument.value));
  bound.arguments = arrange_arguments(state_, name, call->arguments, std::move(bound.arguments), offset);
  drop_output_parameters(bound.arguments);
  std::vector<sql::Type> types;
  for (const ExpressionPtr& argument : bound.arguments) types.push_back(argument->type);
  bound.function = sql::resolve_table_function(name, types, offset);
  require_execute(state_, name, bound.function->function->arguments);
  for (std::size_t i = 0; i < bound.arguments.size(); ++i) {
    bound.arguments[i] =
        coerce(state_, bound.arguments[i], bound.function->arguments[i], sql::CastContext::kImplicit);
  }
  return bound;
}

namespace {

/// A record's columns under the names that the query gives them. 42804 where they are others.
std::vector<sql::ResultColumn> matching_columns(BindState& state, const std::vector<sql::ResultColumn>& given,
                                                const std::vector<ast::RecordColumn>& written) {
  const auto refuse = [](std::string detail) {
    return SqlError(sqlstate::kDatatypeMismatch, "function return row and query-specified return row do not match").detail(std::move(detail));
  };
  if (given.size() != written.size()) {
    throw refuse(fmt::format("Returned row contains {} attribute{}, but query expects {}.", given.size(), given.size() == 1 ? "" : "s", written.size()));
  }
  std::vector<sql::ResultColumn> columns;
  for (std::size_t i = 0; i < written.size(); ++i) {
    columns.push_back({written[i].name, declared_type(state, written[i].type).type});
    if (columns[i].type.oid == given[i].type.oid) continue;
    throw refuse(fmt::format("Returned type {} at ordinal position {}, but query expects {}.", sql::format_type(sql::Type{given[i].type.oid}), i + 1,
                             sql::format_type(sql::Type{columns[i].type.oid})));
  }
  return columns;
}

}  // namespace

void FromBinder::define_record(BoundCall& call, const std::vector<ast::RecordColumn>& written, std::optional<std::uint32_t> offset) {
  std::vector<sql::ResultColumn>& columns = call.columns;
  const bool has_row = call.arguments.size() > 1;
  if (has_row) {
    // A composite row arrives as a record; what it was says its fields.
    const auto* cast = std::get_if<sql::CastCall>(&call.arguments[0]->node);
    const ExpressionPtr& written_row = cast != nullptr ? cast->operand : call.arguments[0];
    const sql::Expression& row = *written_row;
    const auto shape = row_shape(row);
    if (shape) {
      for (const RowField& field : *shape) columns.push_back({field.name, field.value->type});
      if (row.type.oid != sql::oid::kRecord) call.row = written_row;
      if (written.empty()) return;
      if (row.type.oid == sql::oid::kRecord) {
        columns = matching_columns(state_, columns, written);
        return;
      }
      throw SqlError(sqlstate::kSyntaxError, "a column definition list is redundant for a function returning a named composite type")
          .at(state_.position(written[0].offset));
    }
  }
  if (written.empty()) {
    throw SqlError(sqlstate::kSyntaxError, "a column definition list is required for functions returning \"record\"").at(offset);
  }
  for (const ast::RecordColumn& column : written) {
    const DeclaredType declared = declared_type(state_, column.type);
    columns.push_back({column.name, declared.type});
    call.domains.push_back(declared.domain);
  }
}

LogicalPtr FromBinder::scan_calls(std::vector<BoundCall> calls, const std::string& alias, bool with_ordinality) {
  if (calls.size() == 1) {
    if (!calls[0].function) return scalar_function(calls[0].arguments[0], calls[0].column_name, with_ordinality);
    const LogicalPtr rows = scan_function(state_, *calls[0].function, std::move(calls[0].arguments), alias, with_ordinality, calls[0].columns);
    return test_records(rows, calls[0]);
  }
  LogicalPtr plan;
  for (BoundCall& call : calls) {
    LogicalPtr scan = call.own ? run_function_rows(state_, *call.own, std::move(call.arguments), alias, false)
                      : call.function ? scan_function(state_, *call.function, std::move(call.arguments), alias, false, std::move(call.columns))
                                    : scan_value(state_, call.arguments[0], call.column_name);
    plan = plan ? scan_beside(plan, scan) : std::move(scan);
  }
  if (!with_ordinality) return plan;
  LogicalFunctionScan scan = std::get<LogicalFunctionScan>(plan->node);
  scan.with_ordinality = true;
  std::vector<LogicalColumn> columns = plan->columns;
  columns.push_back({.id = state_.new_column(), .name = "ordinality", .type = sql::kInt8, .nullable = false});
  return make_logical(std::move(scan), std::move(columns));
}

/// `AS t(a int, …)` says what the records of a function are.
void FromBinder::define_columns(SqlFunctionCall& call, const std::vector<ast::RecordColumn>& written, std::optional<std::uint32_t> offset) {
  const bool is_open = call.function->result.oid == sql::oid::kRecord && call.function->columns.empty();
  if (!is_open && written.empty()) return;
  if (!is_open) {
    const auto at = state_.position(written[0].offset);
    const bool named = call.function->result_relation != 0 || sql::is_composite_type(call.function->result.oid);
    if (named) {
      throw SqlError(sqlstate::kSyntaxError, "a column definition list is redundant for a function returning a named composite type").at(at);
    }
    if (call.function->columns.size() > 1) {
      throw SqlError(sqlstate::kSyntaxError, "a column definition list is redundant for a function with OUT parameters").at(at);
    }
    throw SqlError(sqlstate::kSyntaxError, "a column definition list is only allowed for functions returning \"record\"").at(at);
  }
  if (written.empty()) throw SqlError(sqlstate::kSyntaxError, "a column definition list is required for functions returning \"record\"").at(offset);
  auto defined = std::make_shared<sql::FunctionDef>(*call.function);
  for (const ast::RecordColumn& column : written) {
    defined->columns.push_back({column.name, declared_type(state_, column.type).type});
  }
  call.function = std::move(defined);
}

/// The function's body is run for its rows.
FromPart FromBinder::run_sql_function(const ast::FunctionRef& function, const SqlFunctionCall& call) {
  FromPart part;
  CorrelationFrame subqueries;
  pass_outer_columns(call.arguments, part.lateral);
  const LogicalPtr input = place_subqueries(state_, level_, one_row(), call.arguments);
  std::vector<ExpressionPtr> arguments;
  for (const ExpressionPtr& argument : call.arguments) {
    arguments.push_back(sql::map_columns(argument, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
      CorrelationFrame& frame = find_column(*input, column.column) ? subqueries : part.lateral;
      return correlate(state_, frame, sql::make_expression(whole.type, column, whole.offset));
    }));
  }
  const std::string& name = call.function->name;
  part.plan = run_function_rows(state_, call, std::move(arguments), function.alias ? function.alias->name : name, false);
  const bool one_value = !returns_rows(*call.function);
  if (function.with_ordinality) {
    LogicalFunctionScan scan = std::get<LogicalFunctionScan>(part.plan->node);
    scan.with_ordinality = true;
    std::vector<LogicalColumn> columns = part.plan->columns;
    columns.push_back({.id = state_.new_column(), .name = "ordinality", .type = sql::kInt8, .nullable = false});
    part.plan = make_logical(std::move(scan), std::move(columns));
  }
  auto relation = std::make_shared<Relation>(Relation{.name = name});
  for (const LogicalColumn& column : part.plan->columns) relation->columns.push_back({column.name, reference(column)});
  if (one_value && call.function->columns.empty() && function.alias) relation->columns[0].name = function.alias->name;
  relation->is_scalar = one_value && !function.with_ordinality;
  apply_alias(*relation, function.alias);
  level_.range_table.push_back(relation);
  level_.unlockable.emplace_back(relation->name, "a function");
  part.names.push_back({.relation = relation});
  if (!subqueries.empty()) part.plan = lateral_join(JoinKind::kInner, input, part.plan, subqueries, nullptr);
  return part;
}

std::optional<FromPart> FromBinder::sql_function(const ast::FunctionRef& function, std::uint32_t) {
  const auto* written = std::get_if<ast::FunctionCall>(&function.functions[0].call->node);
  if (function.functions.size() != 1 || written == nullptr || !is_sql_function(state_, written->name)) return std::nullopt;
  std::vector<ExpressionPtr> arguments;
  {
    Scoped clause(level_.clause, Clause::kFromFunction);
    Scoped lateral(level_.lateral_active, true);
    for (const ast::Argument& argument : written->arguments) arguments.push_back(ExpressionBinder(state_, level_).bind(*argument.value));
  }
  if (means_built_in(state_, *written, arguments)) return std::nullopt;
  SqlFunctionCall call = resolve_sql_function(state_, *written, std::move(arguments), state_.position(function.functions[0].call->offset),
                                              state_.settings.calls_procedure);
  if (call.function->language == "c") return std::nullopt;
  const std::vector<ast::RecordColumn>& defined = function.columns.empty() ? function.functions[0].columns : function.columns;
  define_columns(call, defined, state_.position(function.functions[0].call->offset));
  const bool has_subquery = std::ranges::any_of(call.arguments, [&](const ExpressionPtr& argument) { return needs_subquery(level_, *argument); });
  if (function.with_ordinality || has_subquery || !is_inlinable(state_, *call.function)) return run_sql_function(function, call);
  if (!call.function->returns_set && call.function->columns.size() <= 1) {
    if (!call.function->columns.empty()) output_name_ = call.function->columns[0].name;
    return std::nullopt;
  }
  FromPart part;
  CorrelationFrame frame, once;
  part.plan = bind_function_rows(state_, call, frame);
  for (Correlation& entry : frame) {
    std::vector<ColumnId> columns;
    sql::collect_columns(*entry.value, columns);
    (columns.empty() ? once : part.lateral).push_back(std::move(entry));
  }
  const std::vector<LogicalColumn> columns = part.plan->columns;
  if (!once.empty()) part.plan = lateral_join(JoinKind::kInner, one_row(), part.plan, once, nullptr);
  auto relation = std::make_shared<Relation>(Relation{.name = written->name.back()});
  for (const LogicalColumn& column : columns) relation->columns.push_back({column.name, reference(column)});
  if (call.function->columns.empty() && function.alias) relation->columns[0].name = function.alias->name;
  relation->is_scalar = !returns_rows(*call.function);
  apply_alias(*relation, function.alias);
  level_.range_table.push_back(relation);
  part.names.push_back({.relation = relation});
  return part;
}

std::optional<FromBinder::BoundCall> FromBinder::bind_own_call(const ast::FunctionItem& item) {
  const auto* written = std::get_if<ast::FunctionCall>(&item.call->node);
  if (written == nullptr || !is_sql_function(state_, written->name)) return std::nullopt;
  std::vector<ExpressionPtr> arguments;
  for (const ast::Argument& argument : written->arguments) arguments.push_back(ExpressionBinder(state_, level_).bind(*argument.value));
  if (means_built_in(state_, *written, arguments)) return std::nullopt;
  SqlFunctionCall call = resolve_sql_function(state_, *written, std::move(arguments), state_.position(item.call->offset), false);
  if (call.function->language == "c") return std::nullopt;
  define_columns(call, item.columns, state_.position(item.call->offset));
  BoundCall bound{.arguments = call.arguments, .column_name = call.function->name};
  bound.own = std::make_shared<const SqlFunctionCall>(std::move(call));
  return bound;
}

/// CALL knows no built-in procedures. 42809 for functions of that name, 42883 if there are none.
void FromBinder::refuse_call(const ast::FunctionItem& item) {
  const auto* call = std::get_if<ast::FunctionCall>(&item.call->node);
  const auto offset = state_.position(item.call->offset);
  if (call == nullptr) return;
  const std::string name = function_name(state_, call->name, offset);
  std::string types;
  for (const ast::Argument& argument : call->arguments) {
    const ExpressionPtr value = ExpressionBinder(state_, level_).bind(*argument.value);
    types.append(types.empty() ? "" : ", ").append(argument.name.empty() ? "" : argument.name + " => ");
    types.append(sql::format_type(sql::Type{value->type.oid}));
  }
  if (!sql::function_name_exists(name)) {
    throw SqlError(sqlstate::kUndefinedFunction, fmt::format("procedure {}({}) does not exist", name, types))
        .hint("No procedure matches the given name and argument types. You might need to add explicit type casts.")
        .at(offset);
  }
  throw SqlError(sqlstate::kWrongObjectType, fmt::format("{}({}) is not a procedure", name, types))
      .hint("To call a function, use SELECT.")
      .at(offset);
}

std::vector<FromBinder::BoundCall> FromBinder::bind_all_calls(const ast::FunctionRef& function) {
  Scoped clause(level_.clause, Clause::kFromFunction);
  Scoped lateral(level_.lateral_active, true);
  std::vector<BoundCall> calls;
  for (const ast::FunctionItem& item : function.functions) {
    if (std::optional<BoundCall> own = function.functions.size() > 1 ? bind_own_call(item) : std::nullopt) {
      calls.push_back(*std::move(own));
      continue;
    }
    for (BoundCall& call : bind_calls(item)) calls.push_back(std::move(call));
    const std::vector<ast::RecordColumn>& columns = function.columns.empty() ? item.columns : function.columns;
    if (calls.back().function && calls.back().function->function->columns.empty()) {
      define_record(calls.back(), columns, state_.position(item.call->offset));
    } else if (!columns.empty()) {
      const bool has_columns = calls.back().function && calls.back().function->function->columns.size() > 1;
      throw SqlError(sqlstate::kSyntaxError, has_columns ? "a column definition list is redundant for a function with OUT parameters"
                                          : "a column definition list is only allowed for functions returning \"record\"")
          .at(state_.position(columns[0].offset));
    }
  }
  return calls;
}

std::shared_ptr<Relation> FromBinder::name_columns(const ast::FunctionRef& function, const std::vector<LogicalColumn>& columns,
                                                   const std::string& column_name, bool expands_row) {
  auto relation = std::make_shared<Relation>(Relation{.name = column_name});
  for (const LogicalColumn& column : columns) relation->columns.push_back({column.name, reference(column)});
  if (expands_row) {
    const std::optional<std::vector<RowField>> fields = row_shape(*reference(columns[0]));
    relation->columns.erase(relation->columns.begin());
    std::size_t place = 0;
    for (const RowField& field : *fields) {
      relation->columns.insert(relation->columns.begin() + static_cast<std::ptrdiff_t>(place++), {field.name, field.value});
    }
  }
  // The one column of a function that returns no rows of its own is called like the table.
  const bool one_value = !expands_row && columns.size() == (function.with_ordinality ? 2 : 1);
  if (one_value && !output_name_.empty()) {
    relation->columns[0].name = output_name_;
  } else if (one_value && function.alias && relation->columns[0].name == column_name) {
    relation->columns[0].name = function.alias->name;
  }
  apply_alias(*relation, function.alias);
  return relation;
}

FromPart FromBinder::item(const ast::FunctionRef& function, std::uint32_t offset) {
  output_name_.clear();
  if (auto part = bind_view_check(state_, level_, function)) return std::move(*part);
  if (auto part = sql_function(function, offset)) return std::move(*part);
  if (state_.settings.calls_procedure) refuse_call(function.functions[0]);
  std::vector<BoundCall> calls = bind_all_calls(function);
  std::vector<ExpressionPtr*> arguments;
  for (BoundCall& call : calls) {
    for (ExpressionPtr& argument : call.arguments) arguments.push_back(&argument);
  }
  FromPart part;
  CorrelationFrame subqueries;
  const LogicalPtr input = pass_values(arguments, part.lateral, subqueries);
  const std::string column_name = calls[0].column_name;
  const bool gives_one_value = calls.size() == 1 && calls[0].columns.empty() &&
                               (!calls[0].function || calls[0].function->function->columns.size() == 1);
  const std::string alias = function.alias ? function.alias->name : column_name;
  part.plan = scan_calls(std::move(calls), alias, function.with_ordinality);
  const std::vector<LogicalColumn>& columns = part.plan->columns;
  const bool expands_row = gives_one_value && sql::is_composite_type(columns[0].type.oid);
  const std::shared_ptr<Relation> relation = name_columns(function, columns, column_name, expands_row);
  relation->is_scalar = gives_one_value && !expands_row && !function.with_ordinality;
  level_.range_table.push_back(relation);
  level_.unlockable.emplace_back(relation->name, "a function");
  part.names.push_back({.relation = relation});
  if (!subqueries.empty()) {
    part.plan = lateral_join(JoinKind::kInner, input, part.plan, subqueries, nullptr);
  }
  return part;
}

}  // namespace redquel::planner
