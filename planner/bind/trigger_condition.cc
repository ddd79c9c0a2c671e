#include "planner/bind/trigger_condition.h"

#include <algorithm>
#include <map>
#include <set>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/ast_walk.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

RelationPtr row_relation(std::string name, const std::shared_ptr<const sql::TableDef>& table, std::size_t first) {
  auto relation = std::make_shared<Relation>(Relation{.name = std::move(name), .aliased = true, .table = table});
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    const sql::ColumnDef& column = table->columns[i];
    const ExpressionPtr value = sql::make_column(column.type, static_cast<ColumnId>(first + i), column.name);
    (column.hidden ? relation->hidden : relation->columns).push_back({column.name, value});
  }
  relation->hidden.push_back({"tableoid", sql::make_constant(sql::kOidType, static_cast<std::int32_t>(table->oid))});
  return relation;
}

ExpressionPtr bind_condition(const ast::Expression& written, const std::shared_ptr<const sql::TableDef>& table, const sql::CatalogSnapshot& catalog,
                             BindSettings settings) {
  sql::check_stack_depth();
  settings.parameters = false;
  BindState state(catalog, settings, {}, 0);
  while (state.new_column() + 1 < 2 * table->columns.size()) continue;  // the rows have the first ones
  QueryLevel level;
  for (const char* name : {"old", "new"}) {
    const RelationPtr relation = row_relation(name, table, *name == 'o' ? 0 : table->columns.size());
    level.names.push_back({.relation = relation});
    level.range_table.push_back(relation);
  }
  const Scoped clause(level.clause, Clause::kTriggerWhen);
  ExpressionPtr bound = ExpressionBinder(state, level).bind_boolean(written, "WHEN");
  if (!level.subqueries.empty()) throw sql::not_supported("a function whose body is a query, in trigger WHEN conditions,");
  return bound;
}

SqlError refused(std::string message, std::uint32_t offset) {
  return SqlError(sqlstate::kInvalidObjectDefinition, std::move(message)).at(offset);
}

/// Throws 42P17 for rows that the trigger does not have.
void check_rows(const ast::Expression& expression, const sql::TriggerDef& trigger, const sql::TableDef& table) {
  using Event = sql::TriggerDef::Event;
  if (const auto* column = std::get_if<ast::ColumnRef>(&expression.node)) {
    const bool is_old = !column->names.empty() && column->names.front() == "old", is_new = !column->names.empty() && column->names.front() == "new";
    if (!trigger.for_each_row) throw refused("statement trigger's WHEN condition cannot reference column values", expression.offset);
    if (is_old && trigger.is_for(Event::kInsert)) throw refused("INSERT trigger's WHEN condition cannot reference OLD values", expression.offset);
    if (is_new && trigger.is_for(Event::kDelete)) throw refused("DELETE trigger's WHEN condition cannot reference NEW values", expression.offset);
    if (is_new && trigger.timing == sql::TriggerDef::Timing::kBefore) {
      const bool is_whole = column->star || column->names.size() < 2;
      for (const sql::ColumnDef& of_table : table.columns) {
        if (of_table.generated_sql.empty()) continue;
        if (is_whole) {
          throw refused("BEFORE trigger's WHEN condition cannot reference NEW generated columns", expression.offset)
              .detail("A whole-row reference is used and the table contains generated columns.");
        }
        if (column->names[1] == of_table.name) {
          throw refused("BEFORE trigger's WHEN condition cannot reference NEW generated columns", expression.offset)
              .detail("Column \"" + of_table.name + "\" is a generated column.");
        }
      }
    }
  }
  for_each_child(expression, [&](const ast::Expression& child) { check_rows(child, trigger, table); });
}

}  // namespace

void note_trigger_names(const ast::Expression& written, const sql::TableDef& table, const sql::CatalogSnapshot& catalog, BindSettings settings) {
  bind_condition(written, std::make_shared<const sql::TableDef>(table), catalog, std::move(settings));
}

std::string make_trigger_condition(const ast::Expression& written, const sql::TriggerDef& trigger, const sql::TableDef& table,
                                   const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  NameUses uses;
  BindSettings own = settings;
  own.names = &uses;
  note_trigger_names(written, table, catalog, std::move(own));
  check_rows(written, trigger, table);
  return parser::to_sql(written, uses.names_in(catalog), parser::QueryLayout::kCompact);
}

std::vector<sql::PolicyDef::Reference> trigger_references(const sql::TriggerDef& trigger, const sql::TableDef& table,
                                                          const sql::CatalogSnapshot& catalog) {
  std::map<sql::Oid, std::set<std::int16_t>> found;
  if (!trigger.when_sql.empty()) {
    NameUses uses;
    BindSettings settings = for_stored_text({}, table.schema, catalog);
    settings.names = &uses;
    const ast::ExpressionPtr parsed = parser::parse_expression(trigger.when_sql);
    note_trigger_names(*parsed, table, catalog, std::move(settings));
    for (const auto& [reference, column] : uses.columns) found[column.oid].insert(column.number);
    for (const sql::ViewDef::Reference& reference : uses.references()) found[reference.relation].insert(reference.columns.begin(), reference.columns.end());
  }
  std::vector<sql::PolicyDef::Reference> references;
  for (const auto& [relation, columns] : found) references.push_back({relation, {columns.begin(), columns.end()}});
  return references;
}

std::string rename_in_trigger(const std::string& text, const sql::TableDef& before_table, const sql::CatalogSnapshot& before,
                              const sql::CatalogSnapshot& after) {
  NameUses uses;
  BindSettings settings = for_stored_text({}, before_table.schema, before);
  settings.names = &uses;
  const ast::ExpressionPtr parsed = parser::parse_expression(text);
  note_trigger_names(*parsed, before_table, before, std::move(settings));
  return parser::to_sql(*parsed, uses.names_in(after), parser::QueryLayout::kCompact);
}

bool is_trigger_condition(const sql::TableDef& table, std::string_view text) {
  return !text.empty() && std::ranges::any_of(table.triggers, [&](const sql::TriggerDef& trigger) { return trigger.when_sql == text; });
}

ExpressionPtr bind_trigger_condition(const std::string& text, const std::shared_ptr<const sql::TableDef>& table, const sql::CatalogSnapshot& catalog,
                                     const BindSettings& settings) {
  return bind_condition(*parser::parse_expression(text), table, catalog, for_stored_text(settings, table->schema, catalog));
}

}  // namespace redquel::planner
