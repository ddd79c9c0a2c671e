#include "planner/tree/physical_plan.h"

#include <algorithm>

namespace redquel::planner {

std::vector<PhysicalPlan> inputs_of(const PhysicalNode& node) {
  std::vector<PhysicalPlan> inputs;
  std::visit(
      [&](const auto& n) {
        if constexpr (requires { n.input; }) inputs.push_back(n.input);
        if constexpr (requires { n.outer; }) inputs.push_back(n.outer);
        if constexpr (requires { n.left; }) inputs.push_back(n.left);
        if constexpr (requires { n.right; }) inputs.push_back(n.right);
        if constexpr (requires { n.subquery; }) inputs.push_back(n.subquery);
        if constexpr (requires { n.source; }) inputs.push_back(n.source);
      },
      node.node);
  return inputs;
}

bool is_write(const PhysicalNode& node) {
  return std::holds_alternative<PhysicalInsert>(node.node) || std::holds_alternative<PhysicalUpdate>(node.node) ||
         std::holds_alternative<PhysicalDelete>(node.node) || std::holds_alternative<PhysicalMerge>(node.node);
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

void collect_tables(const PhysicalNode& node, std::vector<std::shared_ptr<const sql::TableDef>>& tables) {
  std::visit(
      [&](const auto& n) {
        std::shared_ptr<const sql::TableDef> table;
        if constexpr (requires { n.read.table; }) table = n.read.table;
        if constexpr (requires { n.inner.read.table; }) table = n.inner.read.table;
        if constexpr (requires { n.table; }) table = n.table;
        bool known = std::any_of(tables.begin(), tables.end(), [&](const auto& t) { return table && t->oid == table->oid; });
        if (table && !known) tables.push_back(std::move(table));
      },
      node.node);
  for (const PhysicalPlan& input : inputs_of(node)) collect_tables(*input, tables);
}

}  // namespace

std::vector<std::shared_ptr<const sql::TableDef>> tables_of(const PhysicalPlan& plan) {
  std::vector<std::shared_ptr<const sql::TableDef>> tables;
  collect_tables(*plan, tables);
  return tables;
}

}  // namespace redquel::planner
