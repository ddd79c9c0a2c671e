#include "planner/bind/policy_condition.h"

#include <algorithm>
#include <map>
#include <set>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "sql/error.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;

void note_policy_names(const ast::Expression& written, const sql::TableDef& table, const sql::CatalogSnapshot& catalog, BindSettings settings) {
  settings.parameters = false;
  BindState state(catalog, settings, {}, 0);
  std::vector<ExpressionPtr> values;
  for (const sql::ColumnDef& column : table.columns) values.push_back(sql::make_column(column.type, state.new_column(), column.name));
  QueryLevel level;
  const RelationPtr relation = policy_relation(std::make_shared<const sql::TableDef>(table), values);
  level.names.push_back({.relation = relation});
  level.range_table.push_back(relation);
  bind_policy_condition(state, level, written);
}

std::string make_policy_condition(const ast::Expression& written, const sql::TableDef& table, const sql::CatalogSnapshot& catalog,
                                  const BindSettings& settings) {
  NameUses uses;
  BindSettings own = settings;
  own.names = &uses;
  note_policy_names(written, table, catalog, std::move(own));
  return parser::to_sql(written, uses.names_in(catalog), parser::QueryLayout::kCompact);
}

std::vector<sql::PolicyDef::Reference> policy_references(const sql::PolicyDef& policy, const sql::TableDef& table,
                                                         const sql::CatalogSnapshot& catalog) {
  std::map<sql::Oid, std::set<std::int16_t>> found;
  for (const std::string& text : {policy.using_sql, policy.check_sql}) {
    if (text.empty()) continue;
    NameUses uses;
    BindSettings settings = for_stored_text({}, table.schema, catalog);
    settings.names = &uses;
    const ast::ExpressionPtr parsed = parser::parse_expression(text);
    note_policy_names(*parsed, table, catalog, std::move(settings));
    for (const sql::ViewDef::Reference& reference : uses.references()) found[reference.relation].insert(reference.columns.begin(), reference.columns.end());
  }
  std::vector<sql::PolicyDef::Reference> references;
  for (const auto& [relation, columns] : found) references.push_back({relation, {columns.begin(), columns.end()}});
  return references;
}

std::string rename_in_policy(const std::string& text, const sql::TableDef& before_table, const sql::CatalogSnapshot& before,
                             const sql::CatalogSnapshot& after) {
  NameUses uses;
  BindSettings settings = for_stored_text({}, before_table.schema, before);
  settings.names = &uses;
  const ast::ExpressionPtr parsed = parser::parse_expression(text);
  note_policy_names(*parsed, before_table, before, std::move(settings));
  return parser::to_sql(*parsed, uses.names_in(after), parser::QueryLayout::kCompact);
}

bool is_policy_condition(const sql::TableDef& table, std::string_view text) {
  return std::ranges::any_of(table.security.policies, [&](const sql::PolicyDef& policy) { return policy.using_sql == text || policy.check_sql == text; });
}

RelationPtr policy_relation(const std::shared_ptr<const sql::TableDef>& table, const std::vector<ExpressionPtr>& values) {
  auto relation = std::make_shared<Relation>(Relation{.name = table->name, .table = table});
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    const sql::ColumnDef& column = table->columns[i];
    (column.hidden ? relation->hidden : relation->columns).push_back({column.name, values[i]});
  }
  relation->hidden.push_back({"tableoid", sql::make_constant(sql::kOidType, static_cast<std::int32_t>(table->oid))});
  return relation;
}

ExpressionPtr bind_policy_condition(BindState& state, QueryLevel& level, const ast::Expression& written) {
  sql::check_stack_depth();
  const Scoped clause(level.clause, Clause::kPolicy);
  return ExpressionBinder(state, level).bind_boolean(written, "POLICY");
}

}  // namespace redquel::planner
