#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/context/memory_limit.h"
#include "executor/operators/batch_pieces.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/external_sort.h"
#include "executor/operators/key_table.h"
#include "executor/operators/spill_file.h"
#include "executor/runtime/event_loop_turn.h"
#include "planner/tree/physical_plan.h"
#include "sql/functions/merging_aggregator.h"

namespace redquel::executor {

/// One aggregate call over all groups: what FILTER, DISTINCT and ORDER BY leave reaches the Aggregator, in that order.
class AggregateCallRun {
 public:
  /// `call` outlives the run; `result` is the type of the call's column, `limit` the operator's.
  AggregateCallRun(const planner::AggregateCall& call, sql::Type result, MemoryLimit limit);

  /// Row i of the batch belongs to groups[i], below `group_count`.
  void update(const sql::Batch& batch, std::span<const RowNumber> groups, std::size_t group_count,
              const sql::EvaluationContext& context);
  /// Returns true if update() may be called on several runs of one call in several threads, and merge() adds them up.
  bool can_merge() const;
  /// Adds what another run of the same call has been given: its group i is groups[i] here.
  void merge(const AggregateCallRun& other, std::span<const RowNumber> groups, std::size_t group_count);
  /// Makes room where much is kept for DISTINCT or ORDER BY; the states of groups stay.
  asio::awaitable<void> spill();
  /// One value per group. Called once.
  asio::awaitable<sql::ColumnPtr> finish(std::size_t group_count, const sql::EvaluationContext& context);
  /// Costs time in proportion to the groups.
  std::size_t memory() const;

 private:
  void add(const sql::Batch& batch, std::span<const RowNumber> groups, std::size_t group_count,
           const sql::EvaluationContext& context);
  /// Returns the bytes of the values that it has computed.
  std::size_t add_piece(const sql::Batch& batch, std::span<const RowNumber> groups, std::size_t group_count, const sql::EvaluationContext& context);
  /// Rows of (group, values).
  void add_rows(std::span<const sql::ColumnPtr> rows, std::size_t count, std::size_t group_count,
                const sql::EvaluationContext& context);
  std::vector<RowNumber> new_rows(std::span<const sql::ColumnPtr> rows, std::size_t count);
  /// Rows that `new_rows` found no room for, part after part.
  asio::awaitable<void> add_waiting(RowPartitions waiting, unsigned level, std::size_t group_count,
                                    const sql::EvaluationContext& context);
  /// Returns the column of group numbers, the first of the grouping keys.
  static sql::ColumnPtr group_column(std::span<const RowNumber> groups);
  void make_order();

  const planner::AggregateCall& call_;
  ExpressionList values_;                   // the arguments, then what ORDER BY names
  const bool may_take_long_;
  BatchPieces pieces_;                      // of batches whose values may take long
  std::vector<std::uint32_t> needed_;       // columns that `values_` reads
  std::unique_ptr<sql::Aggregator> aggregator_;
  sql::MergingAggregator* merging_;         // the same, or null
  MemoryLimit limit_;
  std::vector<sql::Type> row_types_;        // of (group, values)
  std::unique_ptr<KeyTable> distinct_;      // of (group, arguments)
  std::optional<RowPartitions> waiting_;    // rows that are not in `distinct_`, which grows no more
  unsigned level_ = 0;                      // of their division
  std::optional<ExternalSort> sorted_;      // rows of (group, arguments), by group and order
  EventLoopTurn turn_;
  std::vector<std::size_t> order_;          // which of `values_` the rows are sorted by
  std::vector<RowNumber> numbers_;
};

}  // namespace redquel::executor
