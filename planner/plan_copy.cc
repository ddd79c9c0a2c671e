#include "planner/plan_copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/domain.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/modification.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/row_security.h"
#include "planner/bind/subquery_placement.h"
#include "planner/physical/memory_scans.h"
#include "planner/physical/physical_planner.h"
#include "planner/rules/rule.h"
#include "planner/tree/fired_triggers.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/view_rows.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

void refuse_files(const ast::Copy& copy) {
  if (!copy.file) return;
  const char* role = copy.program ? "pg_execute_server_program" : copy.from ? "pg_read_server_files" : "pg_write_server_files";
  const char* what = copy.program ? "to or from an external program" : copy.from ? "from a file" : "to a file";
  throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must be superuser or have privileges of the {} role to COPY {}", role, what))
      .hint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.");
}

/// COPY names its table as a statement that opens it does: the schema is looked for first.
void check_schema(const ast::RelationName& name, const sql::CatalogSnapshot& catalog) {
  if (name.schema.empty() || name.schema == "pg_temp" || name.schema == "pg_catalog" || name.schema == "information_schema" || name.schema == sql::kRedisSchema || catalog.schemas.contains(name.schema)) return;
  throw sql::undefined_schema(name.schema);
}

/// Positions of the named columns among all of them; all where none is named. Generated columns are not copied (42P10 where one is
/// named).
std::vector<std::size_t> positions_of(const std::vector<std::string>& names, const std::vector<std::string>& columns,
                                      const std::string& relation, const sql::TableDef* table = nullptr) {
  const auto is_generated = [&](const std::string& name) {
    const sql::ColumnDef* column = table == nullptr ? nullptr : table->find_column(name);
    return column != nullptr && !column->generated_sql.empty();
  };
  std::vector<std::size_t> positions;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(columns, name);
    if (found == columns.end()) {
      throw SqlError(sqlstate::kUndefinedColumn, relation.empty() ? fmt::format("column \"{}\" does not exist", name)
                                               : fmt::format("column \"{}\" of relation \"{}\" does not exist", name, relation));
    }
    if (is_generated(name)) {
      throw SqlError(sqlstate::kInvalidColumnReference, fmt::format("column \"{}\" is a generated column", name))
          .detail("Generated columns cannot be used in COPY.");
    }
    positions.push_back(static_cast<std::size_t>(found - columns.begin()));
    if (std::ranges::find(positions, positions.back()) != std::prev(positions.end())) {
      throw sql::column_listed_twice(name);
    }
  }
  if (names.empty()) {
    const std::size_t shown = table == nullptr ? columns.size() : table->shown_columns();
    for (std::size_t i = 0; i < shown; ++i) {
      if (!is_generated(columns[i])) positions.push_back(i);
    }
  }
  return positions;
}

/// FORCE_NULL (a): `a` must be a column, and one of those that are copied.
void check_force_list(const std::optional<CopyOptions::ColumnList>& list, const char* option,
                      const std::vector<std::string>& columns, const std::vector<std::size_t>& copied,
                      const std::string& relation) {
  if (!list || list->names.empty()) return;
  for (const std::size_t position : positions_of(list->names, columns, relation)) {
    if (std::ranges::find(copied, position) == copied.end()) {
      throw SqlError(sqlstate::kInvalidColumnReference, fmt::format("{} column \"{}\" not referenced by COPY", option, columns[position]));
    }
  }
}

std::vector<std::string> column_names(const std::vector<LogicalColumn>& columns) {
  std::vector<std::string> names;
  for (const LogicalColumn& column : columns) names.push_back(column.name);
  return names;
}

SqlError view_copied(std::string_view direction, const sql::ViewDef& view) {
  SqlError error(sqlstate::kWrongObjectType, fmt::format("cannot copy {} view \"{}\"", direction, view.name));
  return direction == "from" ? std::move(error).hint("Try the COPY (SELECT ...) TO variant.")
                             : std::move(error).hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.");
}

/// The rows of a table, or some of its columns. `table`: receives its oid.
PlannedStatement plan_table_out(const ast::Copy& copy, const sql::CatalogSnapshot& catalog, const BindSettings& settings,
                                const CopyOptions& options, const std::set<sql::Oid>& changed_tables, sql::Oid& table) {
  BindState state(catalog, settings, {}, 0);
  state.keeps_positions = false;
  const FoundTable found = find_table(state, *copy.relation);
  table = found.oid();
  if (found.view) throw view_copied("from", *found.view);
  if (found.table && found.table->partition_key) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot copy from partitioned table \"{}\"", found.table->name))
        .hint("Try the COPY (SELECT ...) TO variant.");
  }
  LogicalPtr plan = found.system != nullptr ? scan_system_table(state, *found.system)
                                            : scan_table(state, found.table, found.table->name);
  if (found.table) plan = visible_rows(state, found.table, plan, false);
  const std::string& relation = copy.relation->name;
  const std::vector<std::string> names = column_names(plan->columns);
  const std::vector<std::size_t> copied = positions_of(copy.columns, names, relation, found.table.get());
  check_force_list(options.force_quote, "FORCE_QUOTE", names, copied, relation);
  std::vector<OutputValue> outputs;
  Requirement* const requirement = state.requirements.add(sql::AclKind::kTable, found.oid(), sql::right::kSelect);
  for (const std::size_t position : copied) {
    outputs.push_back({reference(plan->columns[position]), names[position]});
    requirement->selected.insert(found.table ? found.table->columns[position].number : static_cast<std::int16_t>(position + 1));
  }
  if (!copy.columns.empty() || copied.size() < names.size()) plan = make_project(state, plan, outputs);
  PhysicalPlanner physical(settings.session, changed_tables, state.next_slot());
  return {physical.plan_statement(rewrite(plan)), {}, state.next_slot(), false, {state.requirements.finish(), state.depends_on_role}};
}

PlannedStatement plan_query_out(const ast::Copy& copy, const sql::CatalogSnapshot& catalog, BindSettings settings,
                                const CopyOptions& options, const std::set<sql::Oid>& changed_tables) {
  const ast::Statement& query = *copy.query;
  if (const auto* select = std::get_if<ast::Select>(&query.node); select != nullptr && select->into) {
    throw SqlError(sqlstate::kFeatureNotSupported, "COPY (SELECT INTO) is not supported");
  }
  if (std::holds_alternative<ast::Merge>(query.node)) throw SqlError(sqlstate::kFeatureNotSupported, "MERGE not supported in COPY");
  const bool returns = std::visit(
      []<class Node>(const Node& node) {
        if constexpr (OneOf<Node, ast::Insert, ast::Update, ast::Delete>) return !node.returning.empty();
        return true;
      },
      query.node);
  if (!returns) throw SqlError(sqlstate::kFeatureNotSupported, "COPY query must have a RETURNING clause");
  settings.parameters = false;
  PlannedStatement planned = plan(query, catalog, {}, settings, changed_tables);
  std::vector<std::string> names;
  for (const PhysicalColumn& column : planned.plan->columns) names.push_back(column.name);
  check_force_list(options.force_quote, "FORCE_QUOTE", names, positions_of({}, names, {}), {});
  return planned;
}

/// WHERE of COPY FROM sees the row as it would be inserted: columns without data have their defaults.
ExpressionPtr bind_condition(BindState& state, const ast::Copy& copy, const sql::TableDef& table,
                             const std::vector<InsertColumn>& columns, Requirement& requirement) {
  QueryLevel level{.clause = Clause::kWhere};
  auto relation = std::make_shared<Relation>(Relation{.name = table.name});
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    relation->columns.push_back({table.columns[i].name, sql::make_column(table.columns[i].type, i, table.columns[i].name), &requirement, table.columns[i].number});
  }
  relation->hidden.push_back({"tableoid", sql::make_constant(sql::kOidType, static_cast<std::int32_t>(table.oid))});
  level.names.push_back({.relation = relation});
  level.range_table.push_back(relation);
  const ExpressionPtr condition = ExpressionBinder(state, level).bind_boolean(*copy.where, "WHERE");
  if (needs_subquery(level, *condition)) {
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot use subquery in COPY FROM WHERE condition").at(condition->offset);
  }
  return sql::map_columns(condition, [&](const sql::Expression& whole, const sql::ColumnRef& column) -> ExpressionPtr {
    const sql::ColumnDef& stored = table.columns[column.column];
    if (!stored.generated_sql.empty()) {
      throw SqlError(sqlstate::kInvalidColumnReference, "generated columns are not supported in COPY FROM WHERE conditions")
          .detail(fmt::format("Column \"{}\" is a generated column.", stored.name));
    }
    const ExpressionPtr& value = columns[column.column].value;
    if (!value) throw sql::not_supported("COPY … WHERE over a column that takes its value from a sequence", whole.offset);
    return value;
  });
}

/// The rows go to triggers INSTEAD OF.
PhysicalViewWrite over_view(const PhysicalInsert& insert) {
  PhysicalViewWrite write{.event = sql::TriggerDef::Event::kInsert, .view = insert.table, .source = insert.source};
  for (const InsertColumn& column : insert.columns) write.new_row.push_back(column.value);
  return write;
}

PlannedCopy plan_in(const ast::Copy& copy, const sql::CatalogSnapshot& catalog, const BindSettings& settings,
                    CopyOptions options) {
  BindState state(catalog, settings, {}, 0);
  state.keeps_positions = false;
  const FoundTable found = find_target_relation(state, *copy.relation);
  if (found.view && !found.view->has_instead_of(sql::TriggerDef::Event::kInsert)) throw view_copied("to", *found.view);
  const std::shared_ptr<const sql::TableDef> table = found.view ? sql::view_rows(*found.view) : found.table;
  if (is_restricted(state, *table)) {
    throw SqlError(sqlstate::kFeatureNotSupported, "COPY FROM not supported with row-level security").hint("Use INSERT statements instead.");
  }
  std::vector<std::string> names;
  for (const sql::ColumnDef& column : table->columns) names.push_back(column.name);
  const std::vector<std::size_t> copied = positions_of(copy.columns, names, table->name, table.get());
  check_force_list(options.force_not_null, "FORCE_NOT_NULL", names, copied, table->name);
  check_force_list(options.force_null, "FORCE_NULL", names, copied, table->name);

  PlannedCopy result{.options = std::move(options), .relation = table->name, .table = table->oid};
  Requirement* const requirement = state.requirements.add(sql::AclKind::kTable, table->oid, sql::right::kInsert);
  for (const std::size_t position : copied) requirement->inserted.insert(table->columns[position].number);
  std::vector<PhysicalColumn> source_columns;
  PhysicalInsert insert{.table = table};
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    const sql::ColumnDef& column = table->columns[i];
    const auto given = std::ranges::find(copied, i);
    if (given != copied.end()) {
      const auto position = static_cast<std::uint32_t>(given - copied.begin());
      ExpressionPtr value = sql::make_column(column.type, position, column.name);
      value = into_domain(catalog, settings, std::move(value), column.domain);
      insert.columns.push_back({column.number, std::move(value)});
    } else if (has_sequence_default(column)) {
      require_draws(state, column);
      insert.columns.push_back({column.number, nullptr, column.sequence});
    } else {
      insert.columns.push_back({column.number, bind_column_default(state, *table, column)});
    }
  }
  for (const std::size_t position : copied) {
    const sql::ColumnDef& column = table->columns[position];
    source_columns.push_back({column.name, column.type, table->oid, column.number});
  }
  state.keeps_positions = true;
  if (copy.where) result.condition = bind_condition(state, copy, *table, insert.columns, *requirement);

  const std::vector<LogicalColumn> row = make_row_columns(state, *table);
  insert.generated = bind_generated(state, *table, row);
  insert.checks = bind_checks(state, *table, row);
  const std::vector<ColumnId> ids = column_ids(row);
  for (Assignment& generated : insert.generated) generated.value = resolve(generated.value, ids);
  for (BoundCheck& check : insert.checks) check.condition = resolve(check.condition, ids);
  insert.source = make_physical(PhysicalValues{}, std::move(source_columns));
  const PhysicalPlan plan = table->of_view ? make_physical(over_view(insert), {}) : make_physical(std::move(insert), {});
  const bool fires_triggers = may_fire_triggers(*plan, catalog);
  result.rows = {plan, {}, state.next_slot(), fires_triggers || writes_several_parts(*plan), {state.requirements.finish(), state.depends_on_role}};
  result.rows.fires_triggers = fires_triggers;
  return result;
}

}  // namespace

PlannedCopy plan_copy(const ast::Copy& copy, const sql::CatalogSnapshot& catalog, const BindSettings& settings,
                      const std::set<sql::Oid>& changed_tables) {
  refuse_files(copy);
  if (copy.relation) check_schema(*copy.relation, catalog);
  CopyOptions options = check_copy_options(copy.options, copy.from);
  if (copy.from) return plan_in(copy, catalog, settings, std::move(options));
  sql::Oid table = 0;
  PlannedStatement rows =
      copy.query ? plan_query_out(copy, catalog, settings, options, changed_tables)
                 : plan_table_out(copy, catalog, settings, options, changed_tables, table);
  if (settings.reads_memory) rows.plan = with_memory_scans(rows.plan);
  return {.rows = std::move(rows), .options = std::move(options), .table = table};
}

}  // namespace redquel::planner
