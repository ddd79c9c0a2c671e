// Computed columns, constraints and policies of the rows that a statement writes, and its RETURNING.

#include <numeric>

#include "executor/storage/constraint_errors.h"
#include "executor/storage/row_error.h"
#include "executor/writes/write_operator.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

void WriteOperator::compute_generated(const sql::TableDef& table, const std::vector<planner::Assignment>& generated, sql::Batch& batch) {
  // None of them reads another.
  for (const planner::Assignment& assignment : generated) {
    batch.columns[table.position(assignment.number)] = sql::evaluate(*assignment.value, batch, context_.evaluation());
  }
}

namespace {

bool holds(const sql::Column& result, std::size_t row) { return !result.is_null(row) && result.get<bool>(row); }

/// The checks of policies on new rows, evaluated.
class PolicyResults {
 public:
  PolicyResults(const std::vector<planner::PolicyCheck>& checks, const sql::Batch& batch, const sql::EvaluationContext& context) {
    for (const planner::PolicyCheck& check : checks) {
      if (check.row != planner::PolicyCheck::Row::kNew) continue;
      results_.emplace_back(&check, sql::evaluate(*check.condition, batch, context));
    }
  }

  void require(const sql::TableDef& table, std::size_t row) const {
    for (const auto& [check, result] : results_) {
      if (!holds(*result, row)) throw policy_violation(table, *check);
    }
  }

 private:
  std::vector<std::pair<const planner::PolicyCheck*, sql::ColumnPtr>> results_;
};

/// The columns of a batch of new rows, then those of the rows that they were made of.
sql::Batch with_source(const sql::Batch& rows, std::size_t width, const sql::Batch& source) {
  sql::Batch both{.rows = rows.rows, .columns = {rows.columns.begin(), rows.columns.begin() + static_cast<std::ptrdiff_t>(width)}};
  both.columns.insert(both.columns.end(), source.columns.begin(), source.columns.end());
  return both;
}

}  // namespace

void WriteOperator::check_existing(const sql::TableDef& table, const std::vector<planner::PolicyCheck>& policies, const sql::Batch& source) {
  // Each check is evaluated only over rows that pass the checks before it.
  std::vector<std::uint32_t> rows(source.rows);
  std::iota(rows.begin(), rows.end(), 0);
  const planner::PolicyCheck* failed = nullptr;
  for (const planner::PolicyCheck& check : policies) {
    if (check.row == planner::PolicyCheck::Row::kNew || rows.empty()) continue;
    const sql::ColumnPtr result = sql::evaluate(*check.condition, source.gather(rows), context_.evaluation());
    std::size_t passing = 0;
    while (passing < rows.size() && holds(*result, passing)) ++passing;
    if (passing == rows.size()) continue;
    rows.resize(passing);
    failed = &check;
  }
  if (failed != nullptr) throw policy_violation(table, *failed);
}

void WriteOperator::check_rows(const sql::TableDef& table, const std::vector<planner::BoundCheck>& checks, const sql::Batch& batch,
                               const std::vector<std::vector<sql::Datum>>& rows, const std::vector<planner::PolicyCheck>& policies,
                               const sql::Batch& source) {
  const PolicyResults allowed(policies, policies.empty() ? sql::Batch{} : with_source(batch, table.columns.size(), source), context_.evaluation());
  const sql::SessionSettings& settings = *context_.evaluation().settings;
  std::vector<sql::ColumnPtr> results;
  for (const planner::BoundCheck& check : checks) results.push_back(sql::evaluate(*check.condition, batch, context_.evaluation()));
  for (std::size_t i = 0; i < rows.size(); ++i, ++checked_rows_) {
    try {
      allowed.require(table, i);
      require_not_null(table, rows[i], settings);
      for (std::size_t number = 0; number < checks.size(); ++number) {
        const sql::Column& result = *results[number];
        const planner::BoundCheck& check = checks[number];
        const bool is_true = holds(result, i);
        if (!check.view.empty() && !is_true) throw check_option_violation(table, check.view, rows[i], settings);
        if (check.view.empty() && !result.is_null(i) && !is_true) throw check_violation(table, check.name, rows[i], settings);
      }
    } catch (const sql::SqlError& error) {
      throw RowError(error, checked_rows_);
    }
  }
}

sql::Batch WriteOperator::evaluate_returning(const std::vector<sql::ExpressionPtr>& returning, const sql::Batch& batch) {
  sql::Batch result;
  result.rows = batch.rows;
  for (const sql::ExpressionPtr& expression : returning) {
    result.columns.push_back(sql::evaluate_for_output(*expression, batch, context_.evaluation()));
  }
  return result;
}

}  // namespace redquel::executor
