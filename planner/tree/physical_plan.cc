#include "planner/tree/physical_plan.h"

#include <algorithm>

#include "sql/catalog/spread_table.h"

namespace redquel::planner {

using TablePtr = std::shared_ptr<const sql::TableDef>;

namespace {

const TablePtr& table_in(const TablePtr& table) { return table; }
const TablePtr& table_in(const TableRead& read) { return read.table; }
const TablePtr& table_in(const MappedScan& scan) { return scan.read.table; }

void add(const PhysicalPlan& plan, std::vector<PhysicalPlan>& plans) {
  if (plan) plans.push_back(plan);
}
void add(const std::vector<PhysicalPlan>& several, std::vector<PhysicalPlan>& plans) { plans.insert(plans.end(), several.begin(), several.end()); }

template <template <class, class> class Kind>
std::vector<PhysicalPlan> plans_of(const PhysicalNode& node) {
  std::vector<PhysicalPlan> plans;
  std::visit([&](const auto& n) { for_each_part<Kind>(n, [&](const auto& member) { add(member, plans); }); }, node.node);
  return plans;
}

}  // namespace

std::vector<PhysicalPlan> inputs_of(const PhysicalNode& node) { return plans_of<Input>(node); }

std::vector<PhysicalPlan> fallbacks_of(const PhysicalNode& node) { return plans_of<Fallback>(node); }

std::vector<PhysicalPlan> forms_of(const PhysicalNode& node) { return plans_of<Form>(node); }

const NodeTraits& traits_of(const PhysicalNode& node) {
  return std::visit([]<class Node>(const Node&) -> const NodeTraits& { return Node::kTraits; }, node.node);
}

const TablePtr* table_of(const PhysicalNode& node) {
  const TablePtr* table = nullptr;
  std::visit([&](const auto& n) { for_each_part<OfTable>(n, [&](const auto& part) { table = &table_in(part); }); }, node.node);
  return table;
}

bool is_write(const PhysicalNode& node) { return traits_of(node).command != nullptr; }

const char* write_command(const PhysicalNode& node) {
  const auto* of_view = std::get_if<PhysicalViewWrite>(&node.node);
  if (of_view == nullptr) return traits_of(node).command;
  switch (of_view->event) {
    case sql::TriggerDef::Event::kInsert: return PhysicalInsert::kTraits.command;
    case sql::TriggerDef::Event::kUpdate: return PhysicalUpdate::kTraits.command;
    case sql::TriggerDef::Event::kDelete:
    case sql::TriggerDef::Event::kTruncate: break;
  }
  return PhysicalDelete::kTraits.command;
}

const PhysicalNode& below_row_wise(const PhysicalNode& node) {
  const PhysicalNode* below = &node;
  while (traits_of(*below).is_row_wise) below = inputs_of(*below).front().get();
  return *below;
}

const PhysicalNode* main_write(const PhysicalNode& plan) {
  const PhysicalNode* node = &plan;
  while (!is_write(*node)) {
    // Nodes that may be above it: WITH queries; RETURNING with subqueries.
    if (const auto* share = std::get_if<PhysicalShare>(&node->node)) {
      node = share->input.get();
    } else if (const auto* project = std::get_if<PhysicalProject>(&node->node)) {
      node = project->input.get();
    } else if (const auto* apply = std::get_if<PhysicalApply>(&node->node)) {
      node = apply->input.get();
    } else {
      return nullptr;
    }
  }
  return node;
}

namespace {

std::size_t count_writes(const PhysicalNode& node) {
  std::size_t count = is_write(node) ? 1 : 0;
  for (const PhysicalPlan& input : inputs_of(node)) count += count_writes(*input);
  return count;
}

}  // namespace

bool is_compound_write(const PhysicalNode& plan) {
  const PhysicalNode* top = &plan;
  while (const auto* share = std::get_if<PhysicalShare>(&top->node)) top = share->input.get();
  return count_writes(plan) > (is_write(*top) ? 1u : 0u);
}

namespace {

/// Returns true if the source reads one bucket of the table.
bool reads_one_part(const PhysicalPlan& source) {
  const auto* gather = std::get_if<Gather>(&below_row_wise(*source).node);
  return gather != nullptr && gather->reads_one_bucket();
}

bool assigns(const std::vector<Assignment>& assignments, std::int16_t column) {
  return std::ranges::find(assignments, column, &Assignment::number) != assignments.end();
}

/// Returns true if the assignments may change unique values that lie by value.
bool changes_values_elsewhere(const sql::TableDef& table, const std::vector<Assignment>& assignments) {
  return std::ranges::any_of(table.indexes, [&](const sql::IndexDef& index) {
    if (!sql::lies_by_value(table, index)) return false;
    // The values of an expression follow columns that only its text names.
    return std::ranges::any_of(index.parts, [&](const auto& part) { return part.column < 0 ? !assignments.empty() : assigns(assignments, part.column); });
  });
}

bool stays_in_one_part(const PhysicalInsert& n) {
  if (sql::has_values_elsewhere(*n.table)) return false;
  const PhysicalNode* source = n.source ? n.source.get() : nullptr;
  while (source != nullptr && traits_of(*source).is_row_wise) source = inputs_of(*source).front().get();
  const auto* values = source != nullptr ? std::get_if<PhysicalValues>(&source->node) : nullptr;
  return values != nullptr && values->rows.size() == 1;
}
bool stays_in_one_part(const PhysicalUpdate& n) {
  if (n.table->router) return false;
  const std::int16_t column = n.table->spread->column;
  if (changes_values_elsewhere(*n.table, n.assignments) || changes_values_elsewhere(*n.table, n.generated)) return false;
  // A row that gets another key owns its values under that.
  const bool moves = sql::has_values_elsewhere(*n.table) && std::ranges::any_of(n.table->primary_key, [&](std::int16_t key) { return assigns(n.assignments, key); });
  return !moves && reads_one_part(n.source) && !assigns(n.assignments, column) && !assigns(n.generated, column);
}
bool stays_in_one_part(const PhysicalDelete& n) { return !sql::has_values_elsewhere(*n.table) && reads_one_part(n.source); }
bool stays_in_one_part(const auto&) { return false; }

}  // namespace

bool Gather::reads_one_bucket() const {
  return table->spread && std::ranges::any_of(limits, [&](const PartLimit& limit) { return limit.column == table->spread->column && limit.equal.size() == 1; });
}

bool writes_several_parts(const PhysicalNode& plan) {
  const bool here = std::visit([&](const auto& n) { return is_write(plan) && table_of(plan) != nullptr && (*table_of(plan))->is_divided() && !stays_in_one_part(n); }, plan.node);
  const std::vector<PhysicalPlan> inputs = inputs_of(plan);
  return here || std::ranges::any_of(inputs, [](const PhysicalPlan& input) { return input && writes_several_parts(*input); });
}

namespace {

void collect_tables(const PhysicalNode& node, std::vector<TablePtr>& tables) {
  if (const TablePtr* table = table_of(node)) {
    for (const TablePtr& stored : sql::stored_tables(*table)) {
      const bool known = std::ranges::any_of(tables, [&](const TablePtr& other) { return other->oid == stored->oid; });
      if (!known) tables.push_back(stored);
    }
  }
  for (const PhysicalPlan& input : inputs_of(node)) collect_tables(*input, tables);
}

}  // namespace

std::vector<TablePtr> tables_of(const PhysicalPlan& plan) {
  std::vector<TablePtr> tables;
  collect_tables(*plan, tables);
  return tables;
}

}  // namespace redquel::planner
