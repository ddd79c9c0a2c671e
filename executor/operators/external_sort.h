#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/context/memory_limit.h"
#include "executor/operators/sort_buffer.h"
#include "executor/operators/spill_file.h"
#include "executor/runtime/event_loop_turn.h"

namespace redquel::executor {

/// A sort of any size: a SortBuffer, and beyond the limit sorted runs in a temporary file that are merged. Stable.
class ExternalSort {
 public:
  ExternalSort(std::vector<sql::Type> key_types, std::vector<SortDirection> directions, std::vector<sql::Type> row_types,
               std::optional<std::uint64_t> wanted, MemoryLimit limit);
  ~ExternalSort();
  ExternalSort(ExternalSort&&) noexcept;
  ExternalSort& operator=(ExternalSort&&) noexcept;

  void add(std::span<const sql::ColumnPtr> keys, std::span<const sql::ColumnPtr> columns,
           std::span<const RowNumber> rows) {
    buffer_->add(keys, columns, rows);
  }
  /// Ask after each `add`; then `spill`.
  bool is_full() { return limit_.is_exceeded(memory()); }
  asio::awaitable<void> spill(EventLoopTurn& turn);
  /// No more rows will be added.
  asio::awaitable<void> finish(EventLoopTurn& turn);
  /// After `finish`: at most `limit` rows; an empty batch is the end.
  sql::Batch next(std::size_t limit);
  std::size_t memory() const { return buffer_->memory(); }

 private:
  class Merge;
  /// Rows in order, their keys behind their columns.
  struct Run {
    SpilledRows rows;
    unsigned level = 0;  // how often merged
  };

  void start_buffer();
  /// Notes how many rows make a short step, before the buffer gives them.
  void finish_buffer();
  /// The last `count` runs become one.
  asio::awaitable<void> merge_last(std::size_t count, EventLoopTurn& turn);

  std::vector<sql::Type> key_types_;
  std::vector<SortDirection> directions_;
  std::vector<sql::Type> row_types_, run_types_;
  std::optional<std::uint64_t> wanted_;
  MemoryLimit limit_;
  std::optional<SortBuffer> buffer_;
  std::size_t rows_of_step_ = sql::kBatchRows;
  std::vector<Run> runs_;  // in the order of their rows' arrival
  std::unique_ptr<Merge> merge_;
};

}  // namespace redquel::executor
