#include "executor/operators/correlated_subquery.h"
#include "executor/operators/event_loop_turn.h"
#include "executor/operators/key_table.h"
#include "executor/operators/make_operator.h"
#include "executor/operators/memory_limit.h"
#include "executor/operators/operators.h"

namespace redquel::executor {

namespace {

/// Joins each row of the input with the subquery's rows for it. Few rows at a time are collected into whole batches;
/// results that are small are remembered by the correlated values.
class LateralOperator final : public Operator {
 public:
  LateralOperator(const planner::PhysicalApply& plan, ExecutionContext& context)
      : plan_(plan),
        input_(make_operator(*plan.input, context)),
        context_(context),
        subquery_(plan, context),
        memo_(identity_types(correlated_types()), KeyTable::Nulls::kEqual),
        remembered_(column_types(*plan.subquery)),
        collected_(column_types(*plan.subquery)),
        right_(column_types(*plan.subquery)),
        budget_(MemoryLimit(context, "subquery").bytes() / kMemoShare) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      if (turn_.is_over()) co_await turn_.yield();
      if (!batch_) {
        std::optional<sql::Batch> batch = co_await input_->next();
        if (!batch) co_return std::nullopt;
        start(std::move(*batch));
      }
      if (left_.size() >= sql::kBatchRows || (row_ == batch_->rows && !left_.empty())) co_return flush();
      if (row_ == batch_->rows) {
        batch_.reset();
        continue;
      }
      if (!run_) {
        if (recall()) continue;
        run_ = subquery_.open(row_);
        matched_ = false;
        collects_ = subquery_.is_repeatable() && batch_->rows > 1;
      }
      std::optional<sql::Batch> rows = co_await run_->next();
      if (!rows) {
        end_run();
        continue;
      }
      matched_ = true;
      collect(*rows);
      if (left_.empty() && rows->rows >= sql::kBatchRows / 2) co_return join(*rows);
      left_.insert(left_.end(), rows->rows, static_cast<RowNumber>(row_));
      right_.append_all(*rows);
    }
  }

 private:
  struct Result {
    std::size_t first = 0, count = 0;
    bool is_known = false;
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
      left_.insert(left_.end(), result.count, static_cast<RowNumber>(row_));
      right_.append(remembered_, rows);
    } else {
      add_nulls();
    }
    ++row_;
    return true;
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
    if (!matched_) add_nulls();
    run_.reset();
    ++row_;
  }

  /// LEFT JOIN LATERAL: a row for which the subquery has none.
  void add_nulls() {
    if (plan_.join != planner::JoinKind::kLeft) return;
    left_.push_back(static_cast<RowNumber>(row_));
    right_.append_nulls();
  }

  sql::Batch flush() {
    sql::Batch batch = batch_->gather(left_);
    sql::Batch right = right_.take();
    batch.columns.insert(batch.columns.end(), right.columns.begin(), right.columns.end());
    left_.clear();
    return batch;
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

  std::vector<RowNumber> left_;  // rows of the batch, parallel to the rows of
  RowStore right_;
  std::size_t budget_;
};

}  // namespace

OperatorPtr make_lateral(const planner::PhysicalNode&, const planner::PhysicalApply& plan, ExecutionContext& context) {
  return std::make_unique<LateralOperator>(plan, context);
}

}  // namespace redquel::executor
