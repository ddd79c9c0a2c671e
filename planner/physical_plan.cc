#include "planner/physical_plan.h"

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

namespace {

void collect_tables(const PhysicalNode& node, std::vector<std::shared_ptr<const sql::TableDef>>& tables) {
  std::visit(
      [&](const auto& n) {
        std::shared_ptr<const sql::TableDef> table;
        if constexpr (requires { n.read.table; }) table = n.read.table;
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
