#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "executor/memory/table_version.h"
#include "planner/tree/physical_plan.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// The first rows of a scan in the order of a column of integers: those that cannot be among them are left out.
class BestRows {
 public:
  /// None: all rows are wanted.
  static std::optional<BestRows> of(const planner::MemoryScan& scan, const sql::EvaluationContext& evaluation);

  bool may_have(const Chunk& chunk) const;
  /// Leaves out rows behind the last wanted one so far.
  void prune(const Chunk& chunk, std::vector<std::uint32_t>& rows) const;
  /// Notes rows that are wanted, and leaves out others that they displace.
  void take(const Chunk& chunk, std::vector<std::uint32_t>& rows);

 private:
  BestRows(const planner::MemoryScan::First& first, std::int16_t number, std::uint64_t wanted) : first_(first), number_(number), wanted_(wanted) {}

  /// Returns what orders the rows: smaller ones come first.
  std::int64_t key(std::int64_t value) const { return first_.descending ? ~value : value; }
  std::int64_t key_of(const PackedColumn& column, std::uint32_t row) const;

  planner::MemoryScan::First first_;
  std::int16_t number_;
  std::uint64_t wanted_;
  std::priority_queue<std::int64_t> best_;  // keys of the first rows so far, the last one on top
};

}  // namespace redquel::executor
