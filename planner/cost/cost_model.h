#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>

#include "planner/tree/physical_plan.h"
#include "planner/tree/table_sizes.h"

namespace redquel::planner {

/// The rows that a plan is expected to give, and its costs. Times are microseconds of redquel's and Redis's work and of waiting for round trips.
struct Estimate {
  double rows = 0;
  double startup = 0;  // until the first row
  double total = 0;    // until the last one
  double trips = 0;    // to Redis; a subquery that runs for many outer rows shares them
};

/// Estimates plans from the sizes of their tables, the forms of conditions and the measured prices of Redis's commands. Tables whose sizes are not
/// known are taken to be large, their conditions to be selective.
class CostModel {
 public:
  CostModel() = default;
  /// `sizes` outlive the model.
  explicit CostModel(const TableSizes& sizes) : sizes_(&sizes) {}

  /// Estimates a node with its inputs.
  Estimate of(const PhysicalNode& node);
  double rows(const PhysicalNode& node) { return of(node).rows; }

 private:
  friend struct NodeEstimate;

  const TableSizes* sizes_ = nullptr;
  std::unordered_map<const PhysicalNode*, Estimate> known_;
};

/// The bytes of a row, as PostgreSQL guesses them from the types of its columns.
std::size_t width_of(const PhysicalNode& node);

}  // namespace redquel::planner
