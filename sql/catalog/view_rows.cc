#include "sql/catalog/view_rows.h"

#include <map>

namespace redquel::sql {

std::shared_ptr<const TableDef> view_rows(const ViewDef& view) {
  auto rows = std::make_shared<TableDef>();
  rows->oid = view.oid;
  rows->row_type = view.row_type;
  rows->schema = view.schema;
  rows->name = view.name;
  for (const ViewDef::Column& column : view.columns) {
    rows->columns.push_back({.number = rows->next_column++, .name = column.name, .type = column.type, .default_sql = column.default_sql});
  }
  rows->owner = view.owner;
  rows->acl = view.acl;
  rows->triggers = view.triggers;
  rows->of_view = true;
  return rows;
}

void for_each_with_triggers(const CatalogSnapshot& catalog, const std::function<void(const std::shared_ptr<const TableDef>&)>& use) {
  std::map<Oid, std::shared_ptr<const TableDef>> found;
  for (const auto& [oid, table] : catalog.tables) {
    if (!table->triggers.empty()) found.emplace(oid, table);
  }
  for (const auto& [oid, view] : catalog.views) {
    if (!view->triggers.empty()) found.emplace(oid, view_rows(*view));
  }
  for (const auto& [oid, table] : found) use(table);
}

}  // namespace redquel::sql
