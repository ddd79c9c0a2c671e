#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// A trigger that fires for changes of a table, and the table that has it.
struct TableTrigger {
  std::shared_ptr<const TableDef> owner;
  const TriggerDef* trigger = nullptr;
};

/// The triggers of the table, and those FOR EACH ROW of the partitioned tables above it, in the order of their names.
std::vector<TableTrigger> triggers_of(const CatalogSnapshot& catalog, const std::shared_ptr<const TableDef>& table);
/// The trigger of this name among them that a table above has; without an owner: there is none.
TableTrigger inherited_trigger(const CatalogSnapshot& catalog, const std::shared_ptr<const TableDef>& table, std::string_view name);
/// Returns true if one of the triggers that a write of the table may fire is as wanted: of those of triggers_of(), and those FOR EACH ROW of
/// its partitions.
bool any_trigger_of_writes(const CatalogSnapshot& catalog, const std::shared_ptr<const TableDef>& table, const std::function<bool(const TriggerDef&)>& is_wanted);

}  // namespace redquel::sql
