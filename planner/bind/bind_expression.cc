#include "planner/bind/bind_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "parser/parse.h"
#include "planner/bind/ast_walk.h"
#include "planner/bind/called_functions.h"
#include "planner/bind/column_name.h"
#include "planner/bind/computed_columns.h"
#include "planner/bind/domain.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/object_names.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

BindSettings without_parameters(BindSettings settings) {
  settings.parameters = false;
  settings.rights = nullptr;  // of the statement around it
  return settings;
}

/// A row of the table as the only thing that names can mean.
RelationPtr row_relation(const sql::TableDef& table, const std::vector<ColumnId>& ids) {
  auto relation = std::make_shared<Relation>(Relation{.name = table.name});
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const sql::ColumnDef& column = table.columns[i];
    if (!column.hidden) relation->columns.push_back({column.name, sql::make_column(column.type, ids[i], column.name)});
  }
  relation->hidden.push_back({"tableoid", sql::make_constant(sql::kOidType, static_cast<std::int32_t>(table.oid))});
  return relation;
}

}  // namespace

BindSettings for_stored_text(BindSettings settings, const std::string& schema, const sql::CatalogSnapshot& catalog) {
  std::vector<std::string> path = {schema, "public"};
  path.insert(path.end(), settings.search_path.begin(), settings.search_path.end());
  for (const auto& [name, definition] : catalog.schemas) path.push_back(name);
  settings.search_path.clear();
  for (std::string& name : path) {
    if (std::ranges::find(settings.search_path, name) == settings.search_path.end()) settings.search_path.push_back(std::move(name));
  }
  return settings;
}

ExpressionPtr bind_default(const ast::Expression& expression, const sql::TableDef& table, const sql::ColumnDef& column,
                           const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool stored) {
  BindSettings own = without_parameters(settings);
  if (stored) own = for_stored_text(std::move(own), table.schema, catalog);
  BindState state(catalog, own, {}, 0);
  state.keeps_positions = state.checks_schemas = !stored;
  QueryLevel level{.clause = Clause::kDefault};
  const ExpressionPtr value = ExpressionBinder(state, level).bind(expression);
  if (ExpressionPtr converted = try_coerce(state, value, column.type, sql::CastContext::kAssignment)) {
    return into_domain(state.catalog, state.settings, *value, std::move(converted), column.domain);
  }
  throw SqlError(sqlstate::kDatatypeMismatch,
                 fmt::format("column \"{}\" is of type {} but default expression is of type {}", column.name,
                             sql::format_type(sql::Type{column.type.oid}), sql::format_type(sql::Type{value->type.oid})))
      .hint("You will need to rewrite or cast the expression.");
}

namespace {

template <class Bind>
ExpressionPtr bind_over_row(const sql::TableDef& table, const std::vector<ColumnId>& ids,
                            const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool stored, Clause clause,
                            const Bind& bind) {
  BindSettings own = without_parameters(settings);
  if (stored) own = for_stored_text(std::move(own), table.schema, catalog);
  BindState state(catalog, own, {}, 0);
  state.keeps_positions = state.checks_schemas = !stored;
  QueryLevel level{.clause = clause};
  const RelationPtr relation = row_relation(table, ids);
  level.names.push_back({.relation = relation});
  level.range_table.push_back(relation);
  return bind(state, ExpressionBinder(state, level));
}

}  // namespace

ExpressionPtr bind_check(const ast::Expression& expression, const sql::TableDef& table,
                         const std::vector<ColumnId>& ids, const sql::CatalogSnapshot& catalog,
                         const BindSettings& settings, bool stored) {
  return bind_over_row(table, ids, catalog, settings, stored, Clause::kCheck,
                       [&](BindState&, ExpressionBinder binder) { return binder.bind_boolean(expression, "CHECK"); });
}

ExpressionPtr bind_column_expression(const ast::Expression& expression, const sql::TableDef& table,
                                     const std::vector<ColumnId>& ids, const sql::CatalogSnapshot& catalog,
                                     const BindSettings& settings, bool stored) {
  return bind_over_row(table, ids, catalog, settings, stored, Clause::kCheck, [&](BindState& state, ExpressionBinder binder) {
    return resolve_unknown(state, binder.bind(expression));
  });
}

namespace {

/// Types whose text form settings, the clock or the catalog touch, as PostgreSQL's pg_proc has it for their input functions.
bool reads_surroundings(sql::Oid type) {
  return sql::is_array_type(type) || sql::is_range_type(type) || sql::is_multirange_type(type) || sql::is_row_type(type) ||
         sql::is_enum_type(type) || sql::is_object_name_type(type) || type == sql::oid::kDate || type == sql::oid::kTime ||
         type == sql::oid::kTimetz || type == sql::oid::kTimestamp || type == sql::oid::kTimestamptz || type == sql::oid::kInterval;
}
/// Like reads_surroundings(), for output functions: a time of day always prints alike.
bool prints_surroundings(sql::Oid type) {
  return reads_surroundings(type) && type != sql::oid::kTime && type != sql::oid::kTimetz;
}

/// text || any: PostgreSQL inlines it, so that the argument's output function decides.
bool joins_immutable_texts(const sql::FunctionCall& call) {
  if (call.function->name != "||" || call.function->volatility != sql::Volatility::kStable) return false;
  return std::ranges::none_of(call.arguments, [](const ExpressionPtr& argument) { return prints_surroundings(argument->type.oid); });
}

bool is_immutable(const sql::Expression& expression) {
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  const auto* cast = std::get_if<sql::CastCall>(&expression.node);
  if (call != nullptr && call->function->volatility != sql::Volatility::kImmutable && !joins_immutable_texts(*call)) return false;
  if (cast != nullptr && cast->function != nullptr && cast->function->volatility != sql::Volatility::kImmutable) return false;
  if (cast != nullptr && cast->method == sql::CastCall::Method::kInputOutput &&
      (reads_surroundings(expression.type.oid) || prints_surroundings(cast->operand->type.oid))) {
    return false;
  }
  bool result = true;
  sql::for_each_child(expression, [&](const ExpressionPtr& child) { result = result && is_immutable(*child); });
  return result;
}

}  // namespace

namespace {

/// 42P17: the row would have the generated column in it.
void refuse_whole_row(const ast::Expression& expression, const sql::TableDef& table, const BindState& state) {
  const auto* name = std::get_if<ast::ColumnRef>(&expression.node);
  if (name != nullptr && name->names.size() == 1 && name->names[0] == table.name && table.find_column(table.name) == nullptr) {
    throw SqlError(sqlstate::kInvalidObjectDefinition, "cannot use whole-row variable in column generation expression")
        .detail("This would cause the generated column to depend on its own value.")
        .at(state.position(expression.start));
  }
  for_each_child(expression, [&](const ast::Expression& child) { refuse_whole_row(child, table, state); });
}

/// Returns the first place that names the column.
std::optional<std::uint32_t> place_of(const sql::Expression& expression, ColumnId id) {
  const auto* column = std::get_if<sql::ColumnRef>(&expression.node);
  if (column != nullptr && column->column == id) return expression.offset;
  std::optional<std::uint32_t> place;
  sql::for_each_child(expression, [&](const ExpressionPtr& child) {
    if (!place) place = place_of(*child, id);
  });
  return place;
}

}  // namespace

ExpressionPtr bind_generation(const ast::Expression& expression, const sql::TableDef& table, const sql::ColumnDef& column,
                              const std::vector<ColumnId>& ids, const sql::CatalogSnapshot& catalog,
                              const BindSettings& settings, bool stored) {
  return bind_over_row(table, ids, catalog, settings, stored, Clause::kGenerated, [&](BindState& state, ExpressionBinder binder) {
    refuse_whole_row(expression, table, state);
    const ExpressionPtr value = binder.bind(expression);
    std::vector<std::uint32_t> used;
    sql::collect_columns(*value, used);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (std::ranges::find(used, ids[i]) == used.end()) continue;
      if (table.columns[i].generated_sql.empty() && table.columns[i].number != column.number) continue;
      throw SqlError(sqlstate::kInvalidObjectDefinition,
                     fmt::format("cannot use generated column \"{}\" in column generation expression", table.columns[i].name))
          .detail("A generated column cannot reference another generated column.")
          .at(place_of(*value, ids[i]));
    }
    const ExpressionPtr converted = try_coerce(state, value, column.type, sql::CastContext::kAssignment);
    if (!converted) {
      throw SqlError(sqlstate::kDatatypeMismatch,
                     fmt::format("column \"{}\" is of type {} but default expression is of type {}", column.name,
                                 sql::format_type(sql::Type{column.type.oid}), sql::format_type(sql::Type{value->type.oid})))
          .hint("You will need to rewrite or cast the expression.");
    }
    if (!is_immutable(*converted)) throw SqlError(sqlstate::kInvalidObjectDefinition, "generation expression is not immutable");
    return into_domain(state.catalog, state.settings, converted, column.domain);
  });
}

ExpressionPtr bind_new_index_expression(const ast::Expression& written, const sql::TableDef& table,
                                        const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool predicate) {
  std::vector<ColumnId> ids;
  for (std::size_t i = 0; i < table.columns.size(); ++i) ids.push_back(static_cast<ColumnId>(i));
  const Clause clause = predicate ? Clause::kIndexPredicate : Clause::kIndexExpression;
  const ExpressionPtr bound = bind_over_row(table, ids, catalog, settings, false, clause, [&](BindState& state, ExpressionBinder binder) {
    return predicate ? binder.bind_boolean(written, "WHERE") : resolve_unknown(state, binder.bind(written));
  });
  if (!is_immutable(*bound)) {
    throw SqlError(sqlstate::kInvalidObjectDefinition,
                   fmt::format("functions in index {} must be marked IMMUTABLE", predicate ? "predicate" : "expression"));
  }
  return bound;
}

ExpressionPtr bind_indexed(std::string_view text, const sql::TableDef& table, const std::vector<ColumnId>& ids) {
  static const sql::CatalogSnapshot kNoCatalog;
  static const BindSettings kDefaults;
  const ast::ExpressionPtr parsed = parser::parse_expression(std::string(text));
  const ExpressionPtr bound = bind_column_expression(*parsed, table, ids, kNoCatalog, kDefaults, true);
  sql::EvaluationContext context;
  context.settings = &kDefaults.session;
  return sql::fold_constants(bound, context);
}

ExpressionPtr bind_arbiter_expression(const ast::Expression& written, const sql::TableDef& table, const std::vector<ColumnId>& ids,
                                      const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool predicate) {
  const Clause clause = predicate ? Clause::kIndexPredicate : Clause::kIndexExpression;
  const ExpressionPtr bound = bind_over_row(table, ids, catalog, settings, false, clause, [&](BindState& state, ExpressionBinder binder) {
    return predicate ? binder.bind_boolean(written, "WHERE") : resolve_unknown(state, binder.bind(written));
  });
  sql::EvaluationContext context;
  context.settings = &settings.session;
  return sql::fold_constants(bound, context);
}

std::vector<ExpressionPtr> bind_computed(const sql::TableDef& table, const std::vector<ColumnId>& ids) {
  std::vector<ExpressionPtr> computed;
  for (const sql::ColumnDef& column : table.computed) computed.push_back(bind_indexed(column.generated_sql, table, ids));
  return computed;
}

std::string index_column_name(const ast::Expression& written, const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  const BindSettings own = without_parameters(settings);
  const BindState state(catalog, own, {}, 0);
  std::string name = default_column_name(state, written);
  return name == "?column?" ? "expr" : name;
}

std::vector<ColumnId> positions_as_ids(const sql::TableDef& table) {
  std::vector<ColumnId> ids(table.columns.size());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::vector<sql::Oid> called_functions(const std::string& text, const sql::TableDef& table, const sql::CatalogSnapshot& catalog,
                                       BindSettings settings) {
  NameUses uses;
  settings.names = &uses;
  std::vector<sql::Oid> called;
  try {
    const ast::ExpressionPtr parsed = parser::parse_expression(text);
    bind_column_expression(*parsed, table, positions_as_ids(table), catalog, settings, true);
    for (const auto& [call, function] : uses.functions) called.push_back(function);
    called.insert(called.end(), uses.operators.begin(), uses.operators.end());
  } catch (const SqlError&) {
    called.clear();  // it means nothing any more
  }
  return called;
}

}  // namespace redquel::planner
