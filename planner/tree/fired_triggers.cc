#include "planner/tree/fired_triggers.h"

#include <algorithm>

#include "sql/catalog/table_triggers.h"

namespace redquel::planner {

namespace {

using Event = sql::TriggerDef::Event;

std::vector<std::int16_t> assigned(const std::vector<Assignment>& assignments) {
  std::vector<std::int16_t> columns;
  for (const Assignment& assignment : assignments) columns.push_back(assignment.number);
  return columns;
}

std::vector<WriteEvent> events(const PhysicalInsert& insert) {
  std::vector<WriteEvent> found{{Event::kInsert, {}}};
  if (insert.conflict_update) found.push_back({Event::kUpdate, assigned(insert.conflict_update->assignments)});
  return found;
}
std::vector<WriteEvent> events(const PhysicalUpdate& update) { return {{Event::kUpdate, assigned(update.assignments)}}; }
std::vector<WriteEvent> events(const PhysicalDelete&) { return {{Event::kDelete, {}}}; }
std::vector<WriteEvent> events(const PhysicalMerge& merge) {
  std::vector<WriteEvent> found;
  const auto add = [&](MergeAction::Kind kind, Event event) {
    std::optional<WriteEvent> made;
    for (const MergeAction& action : merge.actions) {
      if (action.kind != kind) continue;
      if (!made) made = WriteEvent{event, {}};
      const std::vector<std::int16_t> columns = assigned(action.assignments);
      made->columns.insert(made->columns.end(), columns.begin(), columns.end());
    }
    if (made) found.push_back(*std::move(made));
  };
  add(MergeAction::Kind::kInsert, Event::kInsert);
  add(MergeAction::Kind::kUpdate, Event::kUpdate);
  add(MergeAction::Kind::kDelete, Event::kDelete);
  return found;
}
std::vector<WriteEvent> events(const PhysicalViewWrite& write) { return {{write.event, write.assigned}}; }
std::vector<WriteEvent> events(const auto&) { return {}; }

/// Returns true if a table with foreign keys to this one, or to one of these, has triggers.
bool has_triggers_behind_keys(const sql::TableDef& table, const sql::CatalogSnapshot& catalog) {
  std::vector<sql::Oid> reached = table.referencing;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto other = catalog.find_table(reached[i]);
    if (!other) continue;
    if (sql::any_trigger_of_writes(catalog, other, [](const sql::TriggerDef&) { return true; })) return true;
    for (const sql::Oid further : other->referencing) {
      if (std::ranges::find(reached, further) == reached.end()) reached.push_back(further);
    }
  }
  return false;
}

bool fires(const PhysicalNode& node, const sql::CatalogSnapshot& catalog) {
  if (std::holds_alternative<PhysicalViewWrite>(node.node)) return true;
  const auto& table = *table_of(node);
  for (const WriteEvent& event : events_of(node)) {
    // A row that goes to another partition leaves one and comes into the other.
    const bool may_move = event.event == Event::kUpdate && table->partition_key;
    const auto is_wanted = [&](const sql::TriggerDef& trigger) { return is_fired(trigger, event) || (may_move && trigger.for_each_row); };
    if (sql::any_trigger_of_writes(catalog, table, is_wanted)) return true;
    if (event.event != Event::kInsert && has_triggers_behind_keys(*table, catalog)) return true;
  }
  return false;
}

}  // namespace

std::vector<WriteEvent> events_of(const PhysicalNode& node) {
  return std::visit([](const auto& n) { return events(n); }, node.node);
}

bool is_fired(const sql::TriggerDef& trigger, const WriteEvent& event) {
  if (!trigger.is_for(event.event) || trigger.firing == sql::TriggerDef::Firing::kDisabled) return false;
  if (event.event != Event::kUpdate || trigger.columns.empty()) return true;
  return std::ranges::any_of(trigger.columns, [&](std::int16_t column) { return std::ranges::find(event.columns, column) != event.columns.end(); });
}

bool may_fire_triggers(const PhysicalNode& plan, const sql::CatalogSnapshot& catalog) {
  if (is_write(plan) && fires(plan, catalog)) return true;
  const std::vector<PhysicalPlan> inputs = inputs_of(plan);
  return std::ranges::any_of(inputs, [&](const PhysicalPlan& input) { return may_fire_triggers(*input, catalog); });
}

}  // namespace redquel::planner
