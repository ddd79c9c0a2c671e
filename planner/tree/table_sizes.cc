#include "planner/tree/table_sizes.h"

#include <algorithm>

#include "planner/tree/logical_walk.h"

namespace redquel::planner {

namespace {

LogicalPtr note_sizes(const LogicalPtr& node, const TableSizes& sizes) {
  if (const auto* scan = std::get_if<LogicalScan>(&node->node)) {
    const auto found = sizes.find(scan->table->oid);
    if (found == sizes.end()) return node;
    LogicalScan counted = *scan;
    counted.table_rows = std::max(found->second.rows, 1.0);
    counted.size = std::make_shared<const TableSize>(found->second);
    return make_logical(std::move(counted), node->columns);
  }
  std::vector<LogicalPtr> inputs = inputs_of(*node);
  if (inputs.empty()) return node;
  for (LogicalPtr& input : inputs) input = note_sizes(input, sizes);
  return with_inputs(*node, inputs);
}

}  // namespace

LogicalPtr with_sizes(const LogicalPtr& plan, const TableSizes& sizes) {
  const bool any_large = std::ranges::any_of(sizes, [](const auto& size) { return size.second.rows >= kSmallTable; });
  return any_large ? note_sizes(plan, sizes) : plan;
}

}  // namespace redquel::planner
