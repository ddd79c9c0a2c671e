#pragma once

#include <cstdint>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

/// One of the events that a write brings its table.
struct WriteEvent {
  sql::TriggerDef::Event event = sql::TriggerDef::Event::kInsert;
  std::vector<std::int16_t> columns;  // kUpdate: the assigned ones
};

/// The events of a node that writes, in the order in which triggers FOR EACH STATEMENT fire before it; none of any other node.
std::vector<WriteEvent> events_of(const PhysicalNode& node);
/// Returns true if the trigger fires for the event, whatever rows it changes.
bool is_fired(const sql::TriggerDef& trigger, const WriteEvent& event);
/// Returns true if writes of the plan may fire triggers: those of the tables, and of tables whose rows foreign keys change then.
bool may_fire_triggers(const PhysicalNode& plan, const sql::CatalogSnapshot& catalog);

}  // namespace redquel::planner
