#include "executor/tables/best_rows.h"

#include <limits>

#include "executor/tables/key_values.h"

namespace redquel::executor {

std::optional<BestRows> BestRows::of(const planner::MemoryScan& scan, const sql::EvaluationContext& evaluation) {
  const auto wanted = evaluate_goal(scan.first->goal.limit, scan.first->goal.offset, evaluation).wanted();
  constexpr std::uint64_t kMost = 10'000;
  if (!wanted || *wanted == 0 || *wanted > kMost) return std::nullopt;
  return BestRows(*scan.first, scan.read.numbers[scan.first->position], *wanted);
}

bool BestRows::may_have(const Chunk& chunk) const {
  const PackedColumn& column = *chunk.columns.at(number_);
  const auto range = column.range();
  if (best_.size() < wanted_ || !range || column.has_nulls()) return true;
  return key(first_.descending ? range->second : range->first) <= best_.top();
}

void BestRows::prune(const Chunk& chunk, std::vector<std::uint32_t>& rows) const {
  const PackedColumn& column = *chunk.columns.at(number_);
  if (best_.size() < wanted_ || !column.range()) return;
  const std::int64_t last = best_.top();
  std::erase_if(rows, [&](std::uint32_t row) { return key_of(column, row) > last; });
}

void BestRows::take(const Chunk& chunk, std::vector<std::uint32_t>& rows) {
  const PackedColumn& column = *chunk.columns.at(number_);
  if (!column.range()) return;
  std::erase_if(rows, [&](std::uint32_t row) {
    const std::int64_t value = key_of(column, row);
    if (best_.size() < wanted_) {
      best_.push(value);
      return false;
    }
    if (value > best_.top()) return true;
    best_.pop();
    best_.push(value);
    return false;
  });
}

std::int64_t BestRows::key_of(const PackedColumn& column, std::uint32_t row) const {
  using Limits = std::numeric_limits<std::int64_t>;
  if (column.is_null(row)) return first_.nulls_first ? Limits::min() : Limits::max();
  return key(std::get<PackedColumn::Integers>(column.values()).value(row));
}

}  // namespace redquel::executor
