#pragma once

#include <deque>

#include "executor/execution_context.h"
#include "executor/operators/operator.h"
#include "executor/storage/write_unit.h"
#include "planner/physical_plan.h"

namespace redquel::executor {

/// The common course of writing statements: collect, apply, return rows.
class WriteOperator : public Operator {
 public:
  asio::awaitable<std::optional<sql::Batch>> next() final;

 protected:
  WriteOperator(const planner::PhysicalNode& node, const planner::PhysicalPlan& source, ExecutionContext& context);

  /// Adds the changes of one batch of the source to the unit, checks included.
  virtual asio::awaitable<void> collect(const sql::Batch& source) = 0;
  /// After the unit was applied: RETURNING rows, in order, and the number of rows that count.
  virtual void finish() = 0;

  /// Puts the generated columns into new rows. `batch` is what they are bound over; its first columns are the table's.
  void compute_generated(const sql::TableDef& table, const std::vector<planner::Assignment>& generated, sql::Batch& batch);
  /// NOT NULL and CHECK of new rows. `rows` are parallel to the batch over which the checks are bound.
  void check_rows(const sql::TableDef& table, const std::vector<planner::BoundCheck>& checks, const sql::Batch& batch,
                  const std::vector<std::vector<sql::Datum>>& rows);
  sql::Batch evaluate_returning(const std::vector<sql::ExpressionPtr>& returning, const sql::Batch& batch);

  ExecutionCounters* counters() { return counters_.get(); }

  ExecutionContext& context_;
  OperatorPtr source_;
  WriteUnit unit_;
  std::deque<sql::Batch> returned_;

 private:
  NodeCounters counters_;
  bool applied_ = false;
};

/// The rows of some columns of a batch, value by value.
std::vector<std::vector<sql::Datum>> rows_of(const sql::Batch& batch, const std::vector<std::size_t>& positions);

}  // namespace redquel::executor
