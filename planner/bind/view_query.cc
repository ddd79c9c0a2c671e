#include "planner/bind/view_query.h"

#include <fmt/format.h>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/bind_state.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/query_binder.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// Gives the select list's entries the view's column names, in every arm of a set operation.
void name_targets(const ast::Select& query, const std::vector<sql::ViewDef::Column>& columns, parser::QueryNames& names) {
  if (query.set_operator != ast::SetOperator::kNone) {
    name_targets(*query.left, columns, names);
    return name_targets(*query.right, columns, names);
  }
  std::size_t next = 0;
  for (const ast::Target& target : query.targets) {
    const auto* column = std::get_if<ast::ColumnRef>(&target.value->node);
    const auto star = column == nullptr ? names.stars.end() : names.stars.find(column);
    if (star == names.stars.end()) {
      if (next < columns.size()) names.targets[&target] = columns[next].name;
      ++next;
      continue;
    }
    for (parser::QueryNames::StarColumn& expansion : star->second) {
      if (next < columns.size()) expansion.column = columns[next].name;
      ++next;
    }
  }
}

/// A type that users have made gets the marks of ViewDef::definition: its schema is shown where the search path does not find it.
std::string marked_type(const std::string& shown, const sql::CatalogSnapshot& catalog) {
  for (const auto& [oid, type] : catalog.types) {
    const std::string name = sql::format_type(sql::Type{oid});
    if (!shown.starts_with(name) || (shown.size() != name.size() && shown.substr(name.size()) != "[]")) continue;
    return "\1" + parser::quote_identifier(type->schema) + ".\2" + parser::quote_identifier(type->name) + "\3" + shown.substr(name.size());
  }
  return shown;
}

void write_texts(const ast::Select& query, const NameUses& uses, const sql::CatalogSnapshot& catalog, sql::ViewDef& view) {
  parser::QueryNames names = uses.names_in(catalog);
  name_targets(query, view.columns, names);
  for (auto& [offset, literal] : names.literals) literal.type = marked_type(literal.type, catalog);
  for (auto& [cast, type] : names.cast_types) type.name = marked_type(type.name, catalog);
  for (auto& [offset, type] : names.casts) type = marked_type(type, catalog);
  for (auto& [list, type] : names.array_casts) type = marked_type(type, catalog);
  for (auto& [choice, type] : names.case_types) type = marked_type(type, catalog);
  view.query = parser::to_sql(query, names, parser::QueryLayout::kCompact);
  view.definition = parser::to_sql(query, names, parser::QueryLayout::kPlain) + ";";
  view.pretty_definition = parser::to_sql(query, names, parser::QueryLayout::kPretty) + ";";
}

SqlError damaged(const sql::ViewDef& view, std::string_view reason) {
  return SqlError(sqlstate::kDataCorrupted, fmt::format("the definition of view \"{}\" in redquel:catalog {}", view.name, reason));
}

}  // namespace

std::shared_ptr<const ast::Select> parse_view_query(const sql::ViewDef& view) {
  std::vector<parser::ParsedStatement> parsed = parser::parse(view.query);
  if (parsed.size() != 1 || !std::holds_alternative<ast::Select>(parsed[0].statement->node)) throw damaged(view, "holds no query");
  const std::shared_ptr<const ast::Statement> statement = std::move(parsed[0].statement);
  return {statement, &std::get<ast::Select>(statement->node)};
}

void check_view_columns(const sql::ViewDef& view, std::size_t query_columns) {
  if (query_columns != view.columns.size()) throw damaged(view, "has other columns than its query");
}

sql::ViewDef make_view_query(const ast::Select& query, const std::vector<std::string>& names, const sql::CatalogSnapshot& catalog,
                             const BindSettings& settings) {
  NameUses uses;
  BindSettings own = settings;
  own.parameters = false;
  own.names = &uses;
  const BoundStatement bound = bind(query, catalog, {}, own);
  if (names.size() > bound.plan->columns.size()) {
    throw SqlError(sqlstate::kSyntaxError, "CREATE VIEW specifies more column names than columns");
  }
  sql::ViewDef view;
  for (std::size_t i = 0; i < bound.plan->columns.size(); ++i) {
    const LogicalColumn& column = bound.plan->columns[i];
    view.columns.push_back({i < names.size() ? names[i] : column.name, column.type, {}});
  }
  view.references = uses.references();
  write_texts(query, uses, catalog, view);
  return view;
}

void rename_in_view(sql::ViewDef& view, const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& after) {
  NameUses uses;
  BindSettings settings;
  settings.parameters = false;
  settings.names = &uses;
  const std::shared_ptr<const ast::Select> query = parse_view_query(view);
  bind(*query, before, {}, settings);
  write_texts(*query, uses, after, view);
}

ViewRights::ViewRights(BindState& state, const sql::ViewDef& view)
    : bound_as_(state.requirements.bound_as, role_of(state, view)),
      is_exempt_(state.requirements.is_exempt, state.requirements.is_exempt || state.catalog.find_view(view.oid) == nullptr),
      checks_schemas_(state.checks_schemas, false) {}

std::optional<sql::Oid> ViewRights::role_of(const BindState& state, const sql::ViewDef& view) {
  if (state.catalog.find_view(view.oid) == nullptr) return sql::kPostgresRole;
  return view.is_security_invoker() ? std::nullopt : std::optional(sql::owner_role(view.owner));
}

BoundQuery bind_view(BindState& state, const sql::ViewDef& view, const std::optional<RowLock>& pushed) {
  sql::check_stack_depth();
  state.count_query();
  const std::shared_ptr<const ast::Select> query = parse_view_query(view);
  state.keep_alive(query);
  const Scoped positions(state.keeps_positions, false);
  const Scoped<NameUses*> names(state.names, nullptr);
  const Scoped<const FunctionScope*> function(state.function, nullptr);
  const Scoped<const VariableScope*> variables(state.variables, nullptr);
  const ViewRights rights(state, view);
  BoundQuery bound = bind_query(state, nullptr, nullptr, *query, false, pushed);
  std::vector<LogicalColumn> columns = bound.plan->columns;
  if (!pushed) check_view_columns(view, columns.size());  // a row lock adds columns
  for (std::size_t i = 0; i < columns.size() && i < view.columns.size(); ++i) {
    columns[i].name = view.columns[i].name;
    columns[i].table = view.oid;
    columns[i].attribute = static_cast<std::int16_t>(i + 1);
  }
  bound.plan = make_logical(bound.plan->node, std::move(columns));
  if (view.is_security_barrier()) bound.plan = behind_barrier(std::move(bound.plan));
  return bound;
}

}  // namespace redquel::planner
