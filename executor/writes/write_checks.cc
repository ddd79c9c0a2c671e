// Computed columns, constraints, policies and hidden keys of the rows that a statement writes, and its RETURNING.

#include <map>
#include <numeric>

#include "executor/runtime/session_context.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/row_error.h"
#include "executor/storage/sequences.h"
#include "executor/writes/write_operator.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "sql/catalog/spread_table.h"
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

/// The checks that partitions have beside those of the table that is written to, evaluated over all new rows where the first row of a partition
/// meets them.
class PartitionChecks {
 public:
  PartitionChecks(const sql::TableDef& table, const sql::Batch& batch, ExecutionContext& context) : table_(table), batch_(batch), context_(context) {}

  void require(const sql::TableDef& part, std::size_t row, std::span<const sql::Datum> values) {
    for (const auto& [name, result] : checks_of(part)) {
      if (!result->is_null(row) && !result->get<bool>(row)) throw check_violation(part, name, values, *context_.evaluation().settings);
    }
  }

 private:
  using Results = std::vector<std::pair<std::string, sql::ColumnPtr>>;

  const Results& checks_of(const sql::TableDef& part) {
    const auto [found, is_new] = results_.try_emplace(part.oid);
    if (!is_new) return found->second;
    for (const sql::CheckDef& check : part.checks) {
      const auto above = std::ranges::find(table_.checks, check.name, &sql::CheckDef::name);
      if (above != table_.checks.end() && above->expression_sql == check.expression_sql) continue;
      const sql::ExpressionPtr bound = planner::bind_check(*parser::parse_expression(check.expression_sql), part, planner::positions_as_ids(part),
                                                           *context_.catalog(), bind_settings(context_.evaluation()), true);
      found->second.emplace_back(check.name, sql::evaluate(*bound, batch_, context_.evaluation()));
    }
    return found->second;
  }

  const sql::TableDef& table_;
  const sql::Batch& batch_;
  ExecutionContext& context_;
  std::map<sql::Oid, Results> results_;
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
  PartitionChecks of_partitions(table, batch, context_);
  for (std::size_t i = 0; i < rows.size(); ++i, ++checked_rows_) {
    try {
      allowed.require(table, i);
      const auto is_of_partition = [&] { return !table.partition || sql::partition_takes(*context_.catalog(), table, rows[i]); };
      if (table.partition_key && !is_of_partition()) throw partition_violation(table, rows[i], settings);
      const sql::TableDef& stored = table.partition_key ? *sql::part_of_row(table, rows[i]) : table;
      require_not_null(stored, rows[i], settings);
      for (std::size_t number = 0; number < checks.size(); ++number) {
        const sql::Column& result = *results[number];
        const planner::BoundCheck& check = checks[number];
        const bool is_true = holds(result, i);
        if (!check.view.empty() && !is_true) throw check_option_violation(table, check.view, rows[i], settings);
        if (check.view.empty() && !result.is_null(i) && !is_true) throw check_violation(stored, check.name, rows[i], settings);
      }
      if (table.partition_key) of_partitions.require(stored, i, rows[i]);
      if (!table.partition_key && !is_of_partition()) throw partition_violation(stored, rows[i], settings);
    } catch (const sql::SqlError& error) {
      throw RowError(error, checked_rows_);
    }
  }
}

asio::awaitable<void> WriteOperator::give_hidden_keys(const std::vector<std::vector<sql::Datum>>& old_rows, std::vector<std::vector<sql::Datum>>& new_rows) {
  if (!table_->has_hidden_key()) co_return;
  std::vector<std::vector<sql::Datum>> moved;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < new_rows.size(); ++i) {
    if (table_->partition_key && sql::part_of_row(*table_, old_rows[i]) != sql::part_of_row(*table_, new_rows[i])) {
      moved.push_back(new_rows[i]);
      numbers.push_back(i);
    }
    new_rows[i].push_back(old_rows[i].back());
  }
  if (moved.empty()) co_return;
  const std::vector<std::int64_t> keys = co_await allocate_keys_of(context_.redis(), *table_, moved, counters());
  for (std::size_t i = 0; i < keys.size(); ++i) new_rows[numbers[i]].back() = keys[i];
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
