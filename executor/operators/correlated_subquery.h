#pragma once

#include <vector>

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
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

 private:
  const planner::PhysicalApply& plan_;
  ExecutionContext& context_;
  bool repeatable_;
  const bool keeps_run_;
  OperatorPtr run_;  // that is at its end
  std::vector<sql::ColumnPtr> values_;  // parallel to the correlations
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
