#include "planner/bind/relation_lookup.h"

#include <fmt/format.h>

#include "planner/bind/plan_nodes.h"
#include "sql/error.h"
#include "sql/system_tables.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

FoundTable find_table(const BindState& state, const ast::RelationName& name) {
  const auto offset = state.position(name.offset);
  const std::string qualified = name.schema.empty() ? name.name : name.schema + "." + name.name;
  if (!name.catalog.empty() && name.catalog != state.settings.database) {
    throw SqlError("0A000",
                   fmt::format("cross-database references are not implemented: \"{}.{}\"", name.catalog, qualified))
        .at(offset);
  }
  const std::vector<std::string>& path = state.settings.search_path;
  if (const auto* system = sql::find_system_table(name.schema.empty() ? "pg_catalog" : name.schema, name.name))
    return {nullptr, system};
  if (auto table = state.catalog.find_table(name.schema, name.name, path)) return {table};
  if (name.schema.empty()) {
    for (const std::string& schema : path) {
      if (const auto* system = sql::find_system_table(schema, name.name)) return {nullptr, system};
    }
  }
  if (state.catalog.find_index(name.schema, name.name, path).second != nullptr) {
    throw SqlError("42809", fmt::format("cannot open relation \"{}\"", name.name))
        .detail("This operation is not supported for indexes.")
        .at(offset);
  }
  if (state.catalog.find_sequence(name.schema, name.name, path) != nullptr) {
    throw sql::not_supported("reading a sequence as a table", offset);
  }
  throw SqlError("42P01", fmt::format("relation \"{}\" does not exist", qualified)).at(offset);
}

std::shared_ptr<const sql::TableDef> find_target_table(const BindState& state, const ast::RelationName& name) {
  FoundTable found = find_table(state, name);
  if (found.system != nullptr) {
    throw SqlError("42501", fmt::format("permission denied: \"{}\" is a system catalog", found.system->name))
        .at(state.position(name.offset));
  }
  return found.table;
}

void apply_alias(Relation& relation, const std::optional<ast::Alias>& alias) {
  if (!alias) return;
  relation.name = alias->name;
  relation.aliased = true;
  if (alias->columns.size() > relation.columns.size()) {
    throw SqlError("42P10", fmt::format("{} \"{}\" has {} columns available but {} columns specified",
                                        relation.is_join ? "join expression" : "table", relation.name,
                                        relation.columns.size(), alias->columns.size()));
  }
  for (std::size_t i = 0; i < alias->columns.size(); ++i) relation.columns[i].name = alias->columns[i];
}

RelationPtr make_relation(QueryLevel& level, const Logical& plan, std::size_t column_count, std::string name,
                          std::shared_ptr<const sql::TableDef> table, const std::optional<ast::Alias>& alias) {
  auto relation = std::make_shared<Relation>(Relation{.name = std::move(name), .table = std::move(table)});
  for (std::size_t i = 0; i < column_count; ++i) {
    relation->columns.push_back({plan.columns[i].name, reference(plan.columns[i])});
  }
  apply_alias(*relation, alias);
  level.range_table.push_back(relation);
  return relation;
}

}  // namespace redquel::planner
