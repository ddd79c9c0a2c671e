#include "executor/operators/shared_aggregation.h"

#include <algorithm>

namespace redquel::executor {

std::size_t SharedAggregation::Part::memory() const {
  std::size_t bytes = groups.memory();
  for (const AggregateCallRun& call : calls) bytes += call.memory();
  return bytes;
}

bool SharedAggregation::step(std::size_t worker) {
  // Groups of the parts are looked up once more when they come together.
  constexpr std::size_t kFewGroups = 8192, kRowsPerGroup = 8;
  if (is_full_) return false;
  Part& part = parts_[worker];
  const sql::InterruptScope interrupts(part.interrupts);
  std::optional<sql::Batch> rows = input_.next(worker);
  if (!rows) return false;
  if (rows->rows == 0) return true;
  const sql::Batch batch = with_decoded(*rows, shared_);
  if (group_by_.empty()) {
    part.group_count = 1;
    part.numbers.assign(batch.rows, 0);
  } else {
    part.groups.find_or_add(group_by_.evaluate(batch, evaluation_), batch.rows, part.numbers);
    part.group_count = part.groups.size();
  }
  for (AggregateCallRun& call : part.calls) call.update(batch, part.numbers, part.group_count, evaluation_);
  part.rows += batch.rows;
  part.rows_since_check += batch.rows;
  const bool has_many_groups = part.group_count > kFewGroups && part.group_count * kRowsPerGroup > part.rows;
  const bool is_checked = part.rows_since_check >= std::max(sql::kBatchRows, part.group_count);  // which costs time in proportion to the groups
  if (is_checked) part.rows_since_check = 0;
  if (has_many_groups || (is_checked && part.memory() > most_bytes_)) is_full_ = true;
  return true;
}

asio::awaitable<std::optional<sql::Batch>> RestOfMorsels::next() {
  for (; worker_ < workers_; ++worker_) {
    while (std::optional<sql::Batch> batch = morsels_->next(worker_)) {
      if (batch->rows > 0) co_return batch;
      if (turn_.is_over()) co_await turn_.yield();
    }
  }
  co_return std::nullopt;
}

}  // namespace redquel::executor
