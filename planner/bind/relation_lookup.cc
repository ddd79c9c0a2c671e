#include "planner/bind/collation.h"
#include "planner/bind/relation_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "planner/bind/plan_nodes.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/privileges/mapped_role.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"
#include "sql/system_tables/relations.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

sql::Oid FoundTable::oid() const { return table ? table->oid : view ? view->oid : system->oid; }

namespace {

/// Returns the row of SELECT … FROM a sequence. The number of values logged ahead is internal to PostgreSQL.
std::shared_ptr<const sql::ViewDef> sequence_row(const sql::SequenceDef& sequence) {
  sql::ViewDef view;
  view.oid = sequence.oid;
  view.name = sequence.name;
  view.columns = {{"last_value", sql::kInt8, {}}, {"log_cnt", sql::kInt8, {}}, {"is_called", sql::kBool, {}}};
  view.query = fmt::format(
      "SELECT COALESCE(s.value, {}::pg_catalog.int8), 0::pg_catalog.int8, s.value IS NOT NULL "
      "FROM (SELECT pg_catalog.pg_sequence_last_value({}::pg_catalog.regclass) AS value) AS s",
      sequence.start, sequence.oid);
  return std::make_shared<const sql::ViewDef>(std::move(view));
}

/// Some system views show what only Redis knows: they are bound as views.
FoundTable read_system_table(const sql::SystemTable& table) {
  if (table.query.empty()) return {.system = &table};
  sql::ViewDef view;
  view.oid = table.oid;
  view.name = table.name;
  view.query = table.query;
  for (const sql::SystemTable::SystemColumn& column : table.columns) view.columns.push_back({column.name, column.type, {}});
  return {.view = std::make_shared<const sql::ViewDef>(std::move(view))};
}

}  // namespace

namespace {

/// pg_temp: the session's own one, if it has any.
std::vector<std::string> temporary_schemas(const std::vector<std::string>& path) {
  std::vector<std::string> schemas;
  std::ranges::copy_if(path, std::back_inserter(schemas), [](const std::string& schema) { return sql::is_temporary_schema(schema); });
  return schemas;
}

}  // namespace

void check_schema_usage(BindState& state, std::string_view schema, std::optional<std::uint32_t> offset) {
  const sql::Oid role = state.settings.role;
  const sql::RoleSet& roles = *sql::known_roles();
  if (schema.empty() || schema == "pg_temp" || schema == "pg_catalog" || !state.checks_schemas || state.requirements.is_exempt) return;
  const auto deny = [&] {
    return sql::permission_denied("schema", schema).at(offset);
  };
  if (sql::is_temporary_schema(schema)) {
    const bool is_own = std::ranges::find(state.settings.search_path, schema) != state.settings.search_path.end();
    if (!is_own && !roles.is_superuser(role)) throw deny();
    return;
  }
  const sql::Oid oid = sql::schema_oid(state.catalog, schema);
  if (oid == 0) return;
  if (!sql::has_schema_usage(state.catalog, oid, role, roles, state.settings.database)) throw deny();
  // Another role may run the same plan.
  if (Requirement* requirement = state.requirements.add(sql::AclKind::kSchema, oid, sql::right::kUsage)) requirement->checked_as = std::nullopt;
}

DeclaredType declared_type(BindState& state, const ast::TypeName& name) {
  const std::size_t of_type = name.percent_type ? 2 : 1;  // parts behind the schema
  if (name.names.size() > of_type) check_schema_usage(state, name.names[name.names.size() - of_type - 1], state.position(name.offset));
  return bind_declared_type(name, state.catalog, state.settings.search_path);
}

FoundTable find_table(BindState& state, const ast::RelationName& name) {
  const auto offset = state.position(name.offset);
  const std::string qualified = name.schema.empty() ? name.name : name.schema + "." + name.name;
  if (!name.catalog.empty() && name.catalog != state.settings.database) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cross-database references are not implemented: \"{}.{}\"", name.catalog, qualified))
        .at(offset);
  }
  const std::vector<std::string>& path = state.settings.search_path;
  check_schema_usage(state, name.schema, offset);
  if (const auto* system = sql::find_system_table(name.schema.empty() ? "pg_catalog" : name.schema, name.name))
    return read_system_table(*system);
  // The first schema of the path that has one of that name decides.
  std::vector<std::string> schemas = path;
  if (!name.schema.empty()) schemas = {name.schema};
  if (name.schema == "pg_temp") schemas = temporary_schemas(path);
  for (const std::string& schema : schemas) {
    if (sql::is_temporary_schema(schema) && !name.schema.empty() && std::ranges::find(path, schema) == path.end() &&
        state.catalog.relation_exists(schema, name.name)) {
      throw SqlError(sqlstate::kFeatureNotSupported, "cannot access temporary tables of other sessions");
    }
    if (auto table = state.catalog.find_table(schema, name.name, {})) return {.table = std::move(table)};
    if (auto view = state.catalog.find_view(schema, name.name, {})) return {.view = std::move(view)};
  }
  if (name.schema.empty()) {
    for (const std::string& schema : path) {
      if (const auto* system = sql::find_system_table(schema, name.name)) return read_system_table(*system);
    }
  }
  if (state.catalog.find_index(name.schema, name.name, path).second != nullptr) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot open relation \"{}\"", name.name))
        .detail("This operation is not supported for indexes.")
        .at(offset);
  }
  if (const sql::SequenceDef* sequence = state.catalog.find_sequence(name.schema, name.name, path)) {
    return {.view = sequence_row(*sequence)};
  }
  throw sql::undefined_relation(qualified).at(offset);
}

const VariableScope::TransitionTable* find_transition_table(const BindState& state, const std::string& name) {
  return state.variables != nullptr ? state.variables->find_transition_table(name) : nullptr;
}

FoundTable find_target_relation(BindState& state, const ast::RelationName& name) {
  if (name.schema.empty() && find_transition_table(state, name.name) != nullptr) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("relation \"{}\" cannot be the target of a modifying statement", name.name));
  }
  FoundTable found = find_table(state, name);
  const bool is_system_view = found.view && sql::find_system_table(found.view->oid) != nullptr;
  if (found.system != nullptr || is_system_view) {
    throw sql::is_system_catalog(name.name)
        .at(state.position(name.offset));
  }
  const bool is_kept = found.table && state.variables != nullptr && state.variables->maintained_view == found.table->oid;
  if (found.table && found.table->materialized && !is_kept) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot change materialized view \"{}\"", found.table->name));
  }
  if (found.view && state.catalog.sequences.contains(found.view->oid)) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot change sequence \"{}\"", name.name));
  }
  return found;
}

void apply_alias(Relation& relation, const std::optional<ast::Alias>& alias) {
  if (!alias) return;
  relation.name = alias->name;
  relation.aliased = true;
  if (alias->columns.size() > relation.columns.size()) {
    throw SqlError(sqlstate::kInvalidColumnReference,
                   fmt::format("{} \"{}\" has {} columns available but {} columns specified", relation.is_join ? "join expression" : "table",
                               relation.name, relation.columns.size(), alias->columns.size()));
  }
  for (std::size_t i = 0; i < alias->columns.size(); ++i) relation.columns[i].name = alias->columns[i];
}

void set_requirement(Relation& relation, Requirement* requirement) {
  relation.requirement = requirement;
  std::int16_t number = 0;
  for (RelationColumn& column : relation.columns) {
    column.requirement = requirement;
    column.attribute = relation.table ? relation.table->columns[static_cast<std::size_t>(number)].number : static_cast<std::int16_t>(number + 1);
    ++number;
  }
  for (RelationColumn& column : relation.hidden) {
    const sql::ColumnDef* hidden = relation.table ? relation.table->find_column(column.name) : nullptr;
    column.requirement = hidden == nullptr ? nullptr : requirement;
    column.attribute = hidden == nullptr ? std::int16_t{0} : hidden->number;
  }
}

RelationPtr make_relation(QueryLevel& level, const Logical& plan, std::size_t column_count, std::string name,
                          std::shared_ptr<const sql::TableDef> table, const std::optional<ast::Alias>& alias,
                          const std::vector<sql::Collation>& collations) {
  auto relation = std::make_shared<Relation>(Relation{.name = std::move(name), .table = std::move(table)});
  for (std::size_t i = 0; i < column_count; ++i) {
    const bool is_hidden = relation->table && i < relation->table->columns.size() && relation->table->columns[i].hidden;
    sql::ExpressionPtr value = reference(plan.columns[i]);
    const bool is_own = relation->table && i < relation->table->columns.size() && !relation->table->columns[i].collation.empty();
    if (is_own) value = with_collation(value, {sql::Collation::Strength::kImplicit, find_collation(relation->table->columns[i].collation)});
    if (i < collations.size()) value = with_column_collation(value, collations[i]);
    (is_hidden ? relation->hidden : relation->columns).push_back({plan.columns[i].name, std::move(value)});
  }
  apply_alias(*relation, alias);
  level.range_table.push_back(relation);
  return relation;
}

}  // namespace redquel::planner
