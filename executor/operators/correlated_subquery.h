#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "executor/operators/key_table.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// The subquery of an Apply: runs anew for a row of the input, whose values it reads from parameter slots.
class CorrelatedSubquery {
 public:
  CorrelatedSubquery(const planner::PhysicalApply& plan, ExecutionContext& context);

  bool is_correlated() const { return !plan_.correlations.empty(); }
  /// Its rows depend on nothing but the correlated values, so that they may be remembered.
  bool is_repeatable() const { return repeatable_; }

  /// The batch whose rows are asked for from now on.
  void start(const sql::Batch& batch);
  /// Writes the row's values into the slots; the operator reads them as it runs.
  OperatorPtr open(std::size_t row);
  /// Takes a run back that was asked to its end: it may serve the next row.
  void close(OperatorPtr run);

  /// Returns true if the subquery may run for several rows at the same time: it only looks up rows, and calls nothing that waits.
  bool may_run_together() const { return runs_together_; }
  /// The rows of one run.
  using Rows = std::vector<sql::Batch>;
  /// Runs the subquery for several rows of the batch at the same time: each step of all runs is one write. nullopt for a row that must be asked
  /// alone: its run has failed, would hold Redis for long, or gives more than `most_rows`. `only_first`: no more than a first batch of a run.
  asio::awaitable<std::vector<std::optional<Rows>>> run_together(std::span<const RowNumber> rows, std::size_t most_rows, bool only_first);
  /// The rows that run together.
  static constexpr std::size_t kTogether = 64;

 private:
  void write_values(ExecutionContext& context, std::size_t row) const;
  asio::awaitable<void> run(ExecutionContext& context, std::size_t most_rows, bool only_first, std::optional<Rows>& result) const;

  const planner::PhysicalApply& plan_;
  ExecutionContext& context_;
  bool repeatable_;
  const bool keeps_run_, runs_together_;
  OperatorPtr run_;  // that is at its end
  std::vector<sql::ColumnPtr> values_;  // parallel to the correlations
  std::vector<std::unique_ptr<ExecutionContext>> contexts_;  // of the runs that run together: each has parameters of its own
};

/// Returns true if the node's operator, asked again after its end, begins anew. False if statistics count how often each begins.
bool begins_anew(const planner::PhysicalNode& node, const ExecutionContext& context);

/// Returns columns that distinguish values even if = does not (1.0 and 1.00, -0 and 0, 'a' and 'a ' of type char): keys under which
/// results are remembered. `columns` are decoded.
std::vector<sql::ColumnPtr> identity_columns(const std::vector<sql::ColumnPtr>& columns,
                                             const sql::EvaluationContext& context);
/// The types of those columns.
std::vector<sql::Type> identity_types(const std::vector<sql::Type>& types);

}  // namespace redquel::executor
