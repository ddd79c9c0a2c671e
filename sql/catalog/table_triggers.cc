#include "sql/catalog/table_triggers.h"

#include <algorithm>

#include "sql/catalog/partitions.h"

namespace redquel::sql {

using TablePtr = std::shared_ptr<const TableDef>;

namespace {

void add_triggers(std::vector<TableTrigger>& found, const TablePtr& table, bool for_rows_alone) {
  for (const TriggerDef& trigger : table->triggers) {
    if (!for_rows_alone || trigger.for_each_row) found.push_back({table, &trigger});
  }
}

}  // namespace

std::vector<TableTrigger> triggers_of(const CatalogSnapshot& catalog, const TablePtr& table) {
  std::vector<TableTrigger> found;
  add_triggers(found, table, false);
  if (!table->partition) return found;
  for (TablePtr above = table; above != nullptr && above->partition;) {
    above = catalog.find_table(above->partition->parent);
    if (above != nullptr) add_triggers(found, above, true);
  }
  std::ranges::stable_sort(found, {}, [](const TableTrigger& one) -> const std::string& { return one.trigger->name; });
  return found;
}

TableTrigger inherited_trigger(const CatalogSnapshot& catalog, const TablePtr& table, std::string_view name) {
  for (TableTrigger& found : triggers_of(catalog, table)) {
    if (found.owner->oid != table->oid && found.trigger->name == name) return std::move(found);
  }
  return {};
}

namespace {

bool any_below(const TableDef& table, const std::function<bool(const TriggerDef&)>& is_wanted) {
  if (table.router == nullptr) return false;
  const auto is_found = [&](const PartitionRouter::Child& child) {
    const auto fires = [&](const TriggerDef& trigger) { return trigger.for_each_row && is_wanted(trigger); };
    return std::ranges::any_of(child.table->triggers, fires) || any_below(*child.table, is_wanted);
  };
  const PartitionRouter::Child* rest = table.router->default_child();
  return std::ranges::any_of(table.router->children(), is_found) || (rest != nullptr && is_found(*rest));
}

}  // namespace

bool any_trigger_of_writes(const CatalogSnapshot& catalog, const TablePtr& table, const std::function<bool(const TriggerDef&)>& is_wanted) {
  if (std::ranges::any_of(table->triggers, is_wanted)) return true;
  const auto is_one = [&](const TableTrigger& found) { return is_wanted(*found.trigger); };
  return (table->partition && std::ranges::any_of(triggers_of(catalog, table), is_one)) || any_below(*table, is_wanted);
}

}  // namespace redquel::sql
