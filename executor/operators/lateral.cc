#include <algorithm>
#include <numeric>

#include "executor/context/memory_limit.h"
#include "executor/operators/column_types.h"
#include "executor/operators/correlated_subquery.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"
#include "executor/operators/plan_volatility.h"
#include "executor/operators/sequence_evaluation.h"
#include "executor/runtime/event_loop_turn.h"
#include "planner/bind/plan_nodes.h"
#include "sql/error.h"
#include "sql/functions/user_function_call.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Rows of a batch of the input, each beside a row of its subquery, until they are many.
class LateralRows {
 public:
  LateralRows(const planner::PhysicalApply& plan) : is_left_(plan.join == planner::JoinKind::kLeft), right_(column_types(*plan.subquery)) {}

  std::size_t size() const { return left_.size(); }
  bool empty() const { return left_.empty(); }

  void add(std::size_t row, const sql::Batch& rows) {
    left_.insert(left_.end(), rows.rows, static_cast<RowNumber>(row));
    right_.append_all(rows);
  }
  void add(std::size_t row, const RowStore& store, std::span<const RowNumber> rows) {
    left_.insert(left_.end(), rows.size(), static_cast<RowNumber>(row));
    right_.append(store, rows);
  }
  /// LEFT JOIN LATERAL: a row for which the subquery has none.
  void add_unmatched(std::size_t row) {
    if (!is_left_) return;
    left_.push_back(static_cast<RowNumber>(row));
    right_.append_nulls();
  }

  sql::Batch take(const sql::Batch& input) {
    sql::Batch batch = input.gather(left_);
    const sql::Batch right = right_.take();
    batch.columns.insert(batch.columns.end(), right.columns.begin(), right.columns.end());
    left_.clear();
    return batch;
  }

 private:
  const bool is_left_;
  std::vector<RowNumber> left_;  // rows of the batch, parallel to the rows of
  RowStore right_;
};

/// Joins each row of the input with the subquery's rows for it. Few rows at a time are collected into whole batches;
/// results that are small are remembered by the correlated values.
class LateralOperator final : public Operator {
 public:
  LateralOperator(const planner::PhysicalApply& plan, ExecutionContext& context)
      : plan_(plan),
        input_(context.make_operator(*plan.input)),
        context_(context),
        subquery_(plan, context),
        memo_(identity_types(correlated_types()), KeyTable::Nulls::kEqual),
        remembered_(column_types(*plan.subquery)),
        collected_(column_types(*plan.subquery)),
        joined_(plan),
        budget_(MemoryLimit(context, "subquery").bytes() / kMemoShare) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (pending_) std::rethrow_exception(pending_);
    while (true) {
      if (turn_.is_over()) co_await turn_.yield();
      if (!batch_) {
        std::optional<sql::Batch> batch = co_await input_->next();
        if (!batch) co_return std::nullopt;
        start(std::move(*batch));
      }
      if (joined_.size() >= sql::kBatchRows || (row_ == batch_->rows && !joined_.empty())) co_return joined_.take(*batch_);
      if (row_ == batch_->rows) {
        batch_.reset();
        continue;
      }
      if (!run_) {
        if (recall()) continue;
        if (subquery_.may_run_together()) {
          co_await run_together();
          if (recall()) continue;
        }
        run_ = subquery_.open(row_);
        matched_ = false;
        collects_ = subquery_.is_repeatable() && batch_->rows > 1;
      }
      std::optional<sql::Batch> rows;
      try {
        rows = co_await run_->next();
      } catch (const sql::SqlError& error) {
        if (joined_.empty() || error.sqlstate() == sqlstate::kQueryCanceled) throw;
        pending_ = std::current_exception();
      }
      if (pending_) co_return joined_.take(*batch_);
      if (!rows) {
        end_run();
        continue;
      }
      matched_ = true;
      collect(*rows);
      if (joined_.empty() && rows->rows >= sql::kBatchRows / 2) co_return join(*rows);
      joined_.add(row_, *rows);
    }
  }

 private:
  struct Result {
    std::size_t first = 0, count = 0;
    bool is_known = false, was_asked = false;  // with others, in vain unless it is known
  };

  std::vector<sql::Type> correlated_types() const {
    std::vector<sql::Type> types;
    for (const auto& correlation : plan_.correlations) types.push_back(plan_.input->columns[correlation.position].type);
    return types;
  }

  void start(sql::Batch batch) {
    subquery_.start(batch);
    if (subquery_.is_repeatable()) {
      if (memo_.memory() + remembered_.memory() > budget_) {
        memo_.clear();
        remembered_.clear();
        results_.clear();
      }
      std::vector<sql::ColumnPtr> keys;
      for (const auto& correlation : plan_.correlations) keys.push_back(decoded(batch.columns[correlation.position]));
      keys = identity_columns(keys, context_.evaluation());
      memo_.find_or_add(keys, batch.rows, numbers_);
      results_.resize(memo_.size());
    }
    batch_ = std::move(batch);
    row_ = 0;
  }

  /// Gives the row's result from memory, if it is there.
  bool recall() {
    if (!subquery_.is_repeatable() || !results_[numbers_[row_]].is_known) return false;
    const Result& result = results_[numbers_[row_]];
    if (result.count > 0) {
      const std::vector<RowNumber> rows = row_range(result.first, result.count);
      joined_.add(row_, remembered_, rows);
    } else {
      joined_.add_unmatched(row_);
    }
    ++row_;
    return true;
  }

  /// Asks for the results of this and later rows together, and remembers them.
  asio::awaitable<void> run_together() {
    if (remembered_.memory() > budget_) co_return;
    std::vector<RowNumber> rows;
    for (std::size_t row = row_; row < batch_->rows && rows.size() < CorrelatedSubquery::kTogether; ++row) {
      Result& result = results_[numbers_[row]];
      if (!std::exchange(result.was_asked, true)) rows.push_back(static_cast<RowNumber>(row));
    }
    if (rows.size() < 2) co_return;
    const auto answers = co_await subquery_.run_together(rows, kRememberedRows, false);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!answers[i]) continue;
      Result& result = results_[numbers_[rows[i]]];
      result = {remembered_.rows(), 0, true, true};
      for (const sql::Batch& batch : *answers[i]) {
        remembered_.append_all(batch);
        result.count += batch.rows;
      }
    }
  }

  void collect(const sql::Batch& rows) {
    if (!collects_) return;
    collected_.append_all(rows);
    collects_ = collected_.rows() <= kRememberedRows && remembered_.memory() + collected_.memory() <= budget_;
    if (!collects_) collected_.clear();
  }

  void end_run() {
    if (collects_) {
      results_[numbers_[row_]] = {remembered_.rows(), collected_.rows(), true};
      const std::vector<RowNumber> rows = row_range(0, collected_.rows());
      remembered_.append(collected_, rows);
      collected_.clear();
    }
    if (!matched_) joined_.add_unmatched(row_);
    subquery_.close(std::move(run_));
    ++row_;
  }

  /// The current row with rows that are a batch already.
  sql::Batch join(const sql::Batch& rows) const {
    const std::vector<RowNumber> left(rows.rows, static_cast<RowNumber>(row_));
    sql::Batch batch = batch_->gather(left);
    batch.columns.insert(batch.columns.end(), rows.columns.begin(), rows.columns.end());
    return batch;
  }

  static constexpr std::size_t kMemoShare = 8;          // of work_mem, for results to remember
  static constexpr std::size_t kRememberedRows = 1024;  // of one result

  const planner::PhysicalApply& plan_;
  OperatorPtr input_;
  ExecutionContext& context_;
  CorrelatedSubquery subquery_;
  KeyTable memo_;
  std::vector<Result> results_;  // by number of the memo's key
  RowStore remembered_;          // rows of the results
  EventLoopTurn turn_;

  std::optional<sql::Batch> batch_;  // of the input
  std::vector<RowNumber> numbers_;   // of its rows' keys
  std::size_t row_ = 0;
  OperatorPtr run_;  // for the row
  bool matched_ = false, collects_ = false;
  RowStore collected_;  // the run's rows, while they are few

  LateralRows joined_;
  std::exception_ptr pending_;  // of a row behind those that were returned
  std::size_t budget_;
};

/// The arguments as expressions over the input: its columns instead of the slots.
std::vector<sql::ExpressionPtr> over_input(const std::vector<sql::ExpressionPtr>& arguments, const planner::PhysicalApply& plan) {
  std::vector<sql::ExpressionPtr> result;
  for (const sql::ExpressionPtr& argument : arguments) {
    result.push_back(planner::map_parameters(argument, [&](const sql::ExpressionPtr& parameter, std::uint32_t slot) {
      const auto found = std::ranges::find(plan.correlations, slot, &planner::PhysicalApply::Correlation::slot);
      if (found == plan.correlations.end()) return parameter;
      sql::Expression column = *parameter;
      column.node = sql::ColumnRef{static_cast<std::uint32_t>(found->position)};
      return sql::ExpressionPtr(std::make_shared<const sql::Expression>(std::move(column)));
    }));
  }
  return result;
}

/// Like LateralOperator, for a subquery of a function's rows: computes its arguments for a whole batch, without an operator for each row.
class LateralFunctionOperator final : public Operator {
 public:
  LateralFunctionOperator(const planner::PhysicalApply& plan, const planner::PhysicalFunctionScan& scan, ExecutionContext& context)
      : call_(scan.calls[0]),
        with_ordinality_(scan.with_ordinality),
        input_(context.make_operator(*plan.input)),
        context_(context),
        argument_list_(over_input(call_.arguments, plan)),
        arguments_(call_.arguments.size()),
        joined_(plan) {
    if (context.statistics != nullptr) run_ = &(*context.statistics)[plan.subquery.get()];
  }

  /// A function whose rows come from its arguments alone, at once.
  static bool can_run(const planner::PhysicalFunctionScan& scan) {
    const planner::TableFunctionCall& call = scan.calls[0];
    return scan.calls.size() == 1 && call.function != nullptr && call.function != &sql::user_function_rows() &&
           (call.function->open != nullptr || call.function->open_record != nullptr) && !calls_sequences(call.arguments);
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      if (!batch_) {
        batch_ = co_await input_->next();
        if (!batch_) co_return std::nullopt;
        columns_ = argument_list_.evaluate(*batch_, context_.evaluation());
        row_ = 0;
      }
      while (row_ < batch_->rows && joined_.size() < sql::kBatchRows) {
        if (turn_.is_over()) co_await turn_.yield();
        add_rows();
      }
      if (!joined_.empty()) co_return joined_.take(*batch_);
      batch_.reset();
    }
  }

 private:
  /// Some rows of the function for the row of the input, or that there are no more.
  void add_rows() {
    if (!rows_) open();
    sql::Batch rows = rows_->next(sql::kBatchRows - joined_.size());
    if (rows.rows == 0) {
      if (count_ == 0) joined_.add_unmatched(row_);
      rows_.reset();
      ++row_;
      return;
    }
    if (run_ != nullptr) run_->rows += rows.rows;
    if (with_ordinality_) {
      std::vector<std::int64_t> numbers(rows.rows);
      std::iota(numbers.begin(), numbers.end(), count_ + 1);
      rows.columns.push_back(std::make_shared<const sql::Column>(sql::Column::from_values(sql::kInt8, std::move(numbers))));
    }
    count_ += static_cast<std::int64_t>(rows.rows);
    joined_.add(row_, rows);
  }

  void open() {
    for (std::size_t i = 0; i < columns_.size(); ++i) arguments_[i] = columns_[i]->datum(row_);
    const sql::TableFunction& function = *call_.function;
    rows_ = function.open_record != nullptr ? function.open_record(arguments_, call_.columns, context_.evaluation())
                                            : function.open(arguments_, context_.evaluation());
    count_ = 0;
    if (run_ != nullptr) ++run_->loops;
  }

  const planner::TableFunctionCall& call_;
  const bool with_ordinality_;
  OperatorPtr input_;
  ExecutionContext& context_;
  const ExpressionList argument_list_;
  planner::NodeRun* run_ = nullptr;  // of EXPLAIN ANALYZE
  EventLoopTurn turn_;

  std::optional<sql::Batch> batch_;      // of the input
  std::vector<sql::ColumnPtr> columns_;  // the arguments for its rows
  std::vector<sql::Datum> arguments_;    // for one row
  std::size_t row_ = 0;
  std::unique_ptr<sql::RowSource> rows_;  // of the function, for the row
  std::int64_t count_ = 0;                // that it has given
  LateralRows joined_;
};

}  // namespace

OperatorPtr make_lateral(const planner::PhysicalNode&, const planner::PhysicalApply& plan, ExecutionContext& context) {
  // Rows that are the same for all of the input are better remembered.
  const auto* scan = std::get_if<planner::PhysicalFunctionScan>(&plan.subquery->node);
  const bool varies = !plan.correlations.empty() || is_volatile(*plan.subquery);
  if (scan != nullptr && varies && LateralFunctionOperator::can_run(*scan)) {
    return std::make_unique<LateralFunctionOperator>(plan, *scan, context);
  }
  return std::make_unique<LateralOperator>(plan, context);
}

}  // namespace redquel::executor
