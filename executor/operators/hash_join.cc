#include <algorithm>
#include <numeric>

#include "executor/operators/expression_list.h"
#include "executor/operators/join_operator.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"
#include "executor/operators/replayed_source.h"
#include "executor/operators/spill_file.h"
#include "executor/operators/vector_source.h"
#include "executor/tables/memory_run.h"

namespace redquel::executor {

namespace {

/// Rows of the right input by the number of their key.
class RowsByKey {
 public:
  void add(RowNumber key) { keys_.push_back(key); }

  /// The rows of a key become one piece of an array; no array where each row has a key of its own.
  void finish(std::size_t key_count) {
    unique_ = key_count == keys_.size();
    if (unique_) {
      keys_ = {};
      return;
    }
    starts_.assign(key_count + 1, 0);
    for (const RowNumber key : keys_) {
      if (key != kNoRow) ++starts_[key + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    rows_.resize(starts_.back());
    std::vector<RowNumber> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t row = 0; row < keys_.size(); ++row) {
      if (keys_[row] != kNoRow) rows_[next[keys_[row]]++] = static_cast<RowNumber>(row);
    }
    keys_ = {};
  }

  std::size_t count(RowNumber key) const { return unique_ ? 1 : starts_[key + 1] - starts_[key]; }
  RowNumber row(RowNumber key, std::size_t index) const { return unique_ ? key : rows_[starts_[key] + index]; }
  std::size_t memory() const { return (3 * keys_.size() + starts_.size() + rows_.size()) * sizeof(RowNumber); }

 private:
  bool unique_ = false;
  std::vector<RowNumber> keys_;  // of each row while rows are added
  std::vector<RowNumber> starts_, rows_;
};

class HashJoinOperator final : public JoinOperator {
 public:
  HashJoinOperator(const planner::HashJoin& plan, JoinInputs inputs, ExecutionContext& context)
      : JoinOperator(std::move(inputs), context),
        left_plan_keys_(is_flipped() ? plan.right_keys : plan.left_keys),
        left_keys_(left_plan_keys_),
        right_keys_(is_flipped() ? plan.left_keys : plan.right_keys),
        table_(right_keys_.types(), KeyTable::Nulls::kNeverMatch),
        keeps_rows_(!asks_existence() || has_condition()) {}

 private:
  void add_right(const sql::Batch& batch) override {
    const std::vector<sql::ColumnPtr> keys = right_keys_.evaluate(batch, context().evaluation());
    table_.find_or_add(keys, batch.rows, numbers_);
    if (!keeps_rows_) return;
    // A row whose key has a NULL matches nothing; only a join that gives right rows without a match needs it.
    std::vector<RowNumber> rows;
    rows.reserve(batch.rows);
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (numbers_[row] == kNoRow && !keeps_right() && !gives_right()) continue;
      rows.push_back(static_cast<RowNumber>(row));
      rows_by_key_.add(numbers_[row]);
    }
    keep_right(batch, rows);
  }

  void finish_right() override {
    if (keeps_rows_) rows_by_key_.finish(table_.size());
  }

  void narrow_left(Operator& left) override {
    for (std::size_t i = 0; i < left_plan_keys_.size() && table_.size() > 0; ++i) {
      const auto* column = std::get_if<sql::ColumnRef>(&left_plan_keys_[i]->node);
      if (column == nullptr) continue;
      if (const KeyFilterPtr filter = KeyFilter::of(table_.keys().columns()[i])) left.leave_out(column->column, filter);
    }
  }

  bool right_is_empty() const override { return table_.size() == 0; }

  void start_left(const sql::Batch& batch) override {
    const std::vector<sql::ColumnPtr> keys = left_keys_.evaluate(batch, context().evaluation());
    table_.find(keys, batch.rows, numbers_);
    left_row_ = match_ = 0;
  }

  bool add_pairs(Pairs& pairs) override {
    const bool gives_nulls = keeps_left() && !has_condition();
    for (; left_row_ < numbers_.size(); ++left_row_, match_ = 0) {
      const RowNumber key = numbers_[left_row_];
      if (key == kNoRow && !gives_nulls) continue;
      if (pairs.is_full()) return true;
      if (key == kNoRow) {
        pairs.add(left_row_, null_row());
        continue;
      }
      if (!keeps_rows_) {
        pairs.add(left_row_, 0);
        continue;
      }
      if (asks_existence() && is_matched(left_row_)) continue;
      for (const std::size_t count = rows_by_key_.count(key); match_ < count; ++match_) {
        if (pairs.is_full()) return true;
        pairs.add(left_row_, rows_by_key_.row(key, match_));
      }
    }
    return false;
  }

  std::size_t memory() const override { return JoinOperator::memory() + table_.memory() + rows_by_key_.memory(); }

  const std::vector<sql::ExpressionPtr>& left_plan_keys_;
  ExpressionList left_keys_, right_keys_;
  KeyTable table_;
  bool keeps_rows_;
  RowsByKey rows_by_key_;

  std::vector<RowNumber> numbers_;  // of the keys of the left batch (while building: of the right one)
  std::size_t left_row_ = 0, match_ = 0;
};

/// Returns the scan of a copy that gives the plan's rows, or more. Null: there is none.
const planner::MemoryScan* memory_scan_of(const planner::PhysicalNode& plan) {
  return std::get_if<planner::MemoryScan>(&planner::below_row_wise(plan).node);
}

/// Reads the right input. When it fits, a HashJoinOperator does the work; else both inputs are divided by their keys'
/// hashes and joined part by part. Where the right input is a copy, and the left one has far fewer rows, the left one is kept instead.
class SpillingHashJoin final : public Operator {
 public:
  SpillingHashJoin(const planner::HashJoin& plan, OperatorPtr left, OperatorPtr right, ExecutionContext& context,
                   unsigned level)
      : plan_(plan),
        left_(std::move(left)),
        right_(std::move(right)),
        context_(context),
        level_(level),
        limit_(context, "hash join") {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (right_ && level_ == 0) co_await start_from_left();
    if (right_) co_await start();
    while (true) {
      if (run_) {
        std::optional<sql::Batch> batch = co_await run_->next();
        if (batch) co_return batch;
        run_.reset();
      }
      if (!left_parts_ || part_ == RowPartitions::kCount) co_return std::nullopt;
      OperatorPtr left = left_parts_->take(part_), right = right_parts_->take(part_);
      ++part_;
      run_ = std::make_unique<SpillingHashJoin>(plan_, std::move(left), std::move(right), context_, level_ + 1);
    }
  }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override {
    const std::size_t left_count = plan_.left->columns.size();
    if (run_) run_->leave_out(column, filter);
    else if (column >= left_count && right_) right_->leave_out(column - left_count, filter);
    else if (column < left_count && left_) left_->leave_out(column, filter);
  }

 private:
  /// Reads the left input as long as it has far fewer rows than the copy that the right one reads.
  asio::awaitable<void> start_from_left() {
    const planner::MemoryScan* const scan = plan_.kind == planner::JoinKind::kFull ? nullptr : memory_scan_of(*plan_.right);
    if (scan == nullptr || !context_.memory) co_return;
    const std::optional<MemoryRun::Known> known = context_.memory->known(*scan, context_);
    if (!known || known->wanted < kLeastCopied) co_return;
    const auto most_rows = static_cast<std::size_t>(known->wanted / kFarFewer);
    const planner::MemoryScan* const left_scan = memory_scan_of(*plan_.left);
    const std::optional<MemoryRun::Known> known_left = left_scan != nullptr ? context_.memory->known(*left_scan, context_) : std::nullopt;
    if (known_left && known_left->wanted > static_cast<double>(most_rows)) co_return;
    std::vector<sql::Batch> batches;
    std::size_t rows = 0, bytes = 0;
    while (rows <= most_rows && bytes <= limit_.bytes() / 2) {
      std::optional<sql::Batch> batch = co_await left_->next();
      if (!batch) {
        JoinInputs inputs{plan_.kind, std::move(right_), std::make_unique<VectorSource>(std::move(batches)), right_types(), left_types(), plan_.residual, "hash join", true};
        run_ = std::make_unique<HashJoinOperator>(plan_, std::move(inputs), context_);
        co_return;
      }
      rows += batch->rows;
      bytes += batch->memory();
      batches.push_back(std::move(*batch));
      if (turn_.is_over()) co_await turn_.yield();
    }
    left_ = std::make_unique<ReplayedSource>(std::move(batches), std::move(left_));
  }

  asio::awaitable<void> start() {
    // The rows, and then the table over them, take the limit together.
    const std::size_t most = limit_.bytes() / 2;
    std::vector<sql::Batch> batches;
    std::size_t bytes = 0;
    std::optional<sql::Batch> batch;
    bool has_room = true;
    while (has_room || level_ == RowPartitions::kMostLevels) {
      batch = co_await right_->next();
      if (!batch) break;
      batches.push_back(compact(std::move(*batch)));
      bytes += batches.back().memory();
      has_room = !limit_.is_exceeded(bytes) && bytes <= most;
      if (level_ == RowPartitions::kMostLevels) limit_.check_bound(bytes);
      if (turn_.is_over()) co_await turn_.yield();
    }
    if (!batch) {
      right_.reset();
      limit_.release();  // the join charges the rows that it takes
      JoinInputs inputs{plan_.kind,     std::move(left_), std::make_unique<VectorSource>(std::move(batches)),
                        left_types(),   right_types(),    plan_.residual,
                        "hash join"};
      run_ = std::make_unique<HashJoinOperator>(plan_, std::move(inputs), context_);
      co_return;
    }
    right_parts_.emplace(right_types(), level_, limit_.temporary_space());
    const ExpressionList right_keys(plan_.right_keys), left_keys(plan_.left_keys);
    for (const sql::Batch& one : batches) right_parts_->add_all(right_keys.evaluate(one, context_.evaluation()), one);
    batches = {};
    limit_.release();
    co_await divide(*right_, right_keys, *right_parts_);
    right_.reset();
    left_parts_.emplace(left_types(), level_, limit_.temporary_space());
    co_await divide(*left_, left_keys, *left_parts_);
    left_.reset();
  }

  /// A batch that holds no more than its own rows: texts in replies of Redis keep the whole reply.
  sql::Batch compact(sql::Batch batch) const {
    const bool has_texts = std::any_of(batch.columns.begin(), batch.columns.end(), [](const sql::ColumnPtr& column) {
      return column->is_encoded() || sql::storage_of(column->type()) == sql::Storage::kText;
    });
    if (!has_texts) return batch;
    RowStore rows(right_types());
    rows.append_all(batch);
    return rows.take();
  }

  asio::awaitable<void> divide(Operator& input, const ExpressionList& keys, RowPartitions& parts) {
    while (std::optional<sql::Batch> batch = co_await input.next()) {
      parts.add_all(keys.evaluate(*batch, context_.evaluation()), *batch);
      if (turn_.is_over()) co_await turn_.yield();
    }
  }

  std::vector<sql::Type> left_types() const { return column_types(*plan_.left); }
  std::vector<sql::Type> right_types() const { return column_types(*plan_.right); }

  /// Copies with fewer rows are not worth the choice, and inputs that have no more than one of so many rows of them are far fewer.
  static constexpr double kLeastCopied = 1000, kFarFewer = 2;

  const planner::HashJoin& plan_;
  OperatorPtr left_, right_;  // right: null when it has been read
  ExecutionContext& context_;
  unsigned level_;
  MemoryLimit limit_;
  EventLoopTurn turn_;
  std::optional<RowPartitions> left_parts_, right_parts_;
  std::size_t part_ = 0;
  OperatorPtr run_;
};

}  // namespace

OperatorPtr make_hash_join(const planner::PhysicalNode&, const planner::HashJoin& plan, ExecutionContext& context) {
  return make_hash_join(plan, context.make_operator(*plan.left), context);
}

OperatorPtr make_hash_join(const planner::HashJoin& plan, OperatorPtr left, ExecutionContext& context) {
  OperatorPtr right = context.make_operator(*plan.right);
  return std::make_unique<SpillingHashJoin>(plan, std::move(left), std::move(right), context, 0);
}

}  // namespace redquel::executor
