#include "planner/tree/bounded_scan.h"

namespace redquel::planner {

bool is_bounded_scan(const PhysicalNode& node) {
  if (const auto* scan = std::get_if<FullScan>(&node.node)) return !scan->key_start.empty();
  if (const auto* scan = std::get_if<OrderedScan>(&node.node)) return scan->goal || (scan->lower && scan->upper) || scan->prefix || !scan->leading.empty();
  if (const auto* scan = std::get_if<MappedScan>(&node.node)) return scan->path != MappedScan::Path::kScan;
  return true;
}

}  // namespace redquel::planner
