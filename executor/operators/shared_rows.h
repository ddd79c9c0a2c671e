#pragma once

#include <vector>

#include "executor/context/execution_context.h"
#include "executor/context/memory_limit.h"
#include "executor/context/operator.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// Rows that several scans read: the batches of an operator, pulled when the first scan wants them and kept for the others.
class SharedRows {
 public:
  /// `source` is made at the first read; null: there are only the rows that `add` gives.
  SharedRows(const planner::PhysicalNode* source, ExecutionContext& context, std::string_view what);

  /// Rows that are too many to keep may be computed again by each scan.
  void allow_recomputation() { may_recompute_ = true; }
  /// They were too many: a scan goes on with `take_run`, a later one with a run of its own.
  bool is_recomputed() const { return is_recomputed_; }
  OperatorPtr take_run();

  /// The batch at that place, nullopt behind the last one.
  asio::awaitable<std::optional<sql::Batch>> batch(std::size_t index);
  /// Like batch(), without waiting: null if it is not there yet.
  const sql::Batch* kept(std::size_t index) const { return index < batches_.size() ? &batches_[index] : nullptr; }
  /// Keeps the batch, texts copied.
  void add(const sql::Batch& batch, const std::vector<sql::Type>& types);
  /// Pulls what is left.
  asio::awaitable<void> finish();
  bool empty() const { return batches_.empty(); }
  /// Takes the other's rows, which is empty then.
  void take(SharedRows& other);

 private:
  const planner::PhysicalNode* source_;  // null: all has been read
  const planner::PhysicalNode* plan_;
  bool may_recompute_ = false, is_recomputed_ = false;
  ExecutionContext& context_;
  OperatorPtr run_;
  std::vector<sql::Batch> batches_;
  std::size_t bytes_ = 0;
  MemoryLimit limit_;
};

/// Makes rows known to the shared scans of a number, as long as it lives.
class SharedRowsScope {
 public:
  SharedRowsScope(ExecutionContext& context, std::uint32_t number, SharedRows& rows);
  ~SharedRowsScope();
  SharedRowsScope(const SharedRowsScope&) = delete;
  SharedRowsScope& operator=(const SharedRowsScope&) = delete;

 private:
  ExecutionContext& context_;
  std::uint32_t number_;
  SharedRows* previous_;
};

}  // namespace redquel::executor
