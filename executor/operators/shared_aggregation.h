#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "executor/context/morsels.h"
#include "executor/context/operator.h"
#include "executor/operators/aggregate_call.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/key_table.h"
#include "executor/runtime/worker_pool.h"
#include "sql/interrupts.h"

namespace redquel::executor {

/// An aggregation by several workers: each groups the rows that it gets. Ends early where there are too many groups for that to be worth it, or where
/// the groups of one worker take too many bytes.
class SharedAggregation final : public SharedWork {
 public:
  /// Groups and states of one worker's rows. The evaluations of a worker have an account of their own, because its thread is not the session's.
  struct Part {
    /// `statement`: the account of the session; null: nothing is counted.
    Part(KeyTable table, const sql::SessionMemory* statement) : groups(std::move(table)) {
      if (statement != nullptr) interrupts.set_memory(&account.emplace(statement->process()));
    }
    KeyTable groups;
    std::size_t group_count = 0;
    std::deque<AggregateCallRun> calls;
    std::vector<RowNumber> numbers;
    std::size_t rows = 0, rows_since_check = 0;
    std::optional<sql::SessionMemory> account;
    sql::Interrupts interrupts;

    std::size_t memory() const;
  };

  /// `group_by`, `shared` (columns that are decoded once) and `evaluation` outlive it. `parts`: one for each worker, of at most so many
  /// bytes.
  SharedAggregation(Morsels& input, const ExpressionList& group_by, std::span<const std::uint32_t> shared, const sql::EvaluationContext& evaluation,
                    std::deque<Part> parts, std::size_t most_bytes)
      : input_(input), group_by_(group_by), shared_(shared), evaluation_(evaluation), parts_(std::move(parts)), most_bytes_(most_bytes) {}

  bool step(std::size_t worker) override;
  const std::deque<Part>& parts() const { return parts_; }

 private:
  Morsels& input_;
  const ExpressionList& group_by_;
  const std::span<const std::uint32_t> shared_;
  const sql::EvaluationContext& evaluation_;
  std::deque<Part> parts_;
  const std::size_t most_bytes_;
  std::atomic<bool> is_full_ = false;
};

/// The rows that workers have left.
class RestOfMorsels final : public Operator {
 public:
  /// `source`: the operator that the morsels are of.
  RestOfMorsels(OperatorPtr source, std::unique_ptr<Morsels> morsels, std::size_t workers) : source_(std::move(source)), morsels_(std::move(morsels)), workers_(workers) {}

  asio::awaitable<std::optional<sql::Batch>> next() override;

 private:
  OperatorPtr source_;
  std::unique_ptr<Morsels> morsels_;
  std::size_t workers_, worker_ = 0;
  EventLoopTurn turn_;
};

}  // namespace redquel::executor
