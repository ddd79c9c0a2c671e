#include <algorithm>
#include <numeric>

#include "executor/context/thread_safety.h"
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
  void add(std::span<const RowNumber> keys) { keys_.insert(keys_.end(), keys.begin(), keys.end()); }

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

  /// Each key has one row, with the key's number.
  bool is_unique() const { return unique_; }
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
  /// `right_count`: the rows that the right input will give.
  HashJoinOperator(const planner::HashJoin& plan, JoinInputs inputs, std::size_t right_count, ExecutionContext& context)
      : JoinOperator(std::move(inputs), context),
        left_plan_keys_(is_flipped() ? plan.right_keys : plan.left_keys),
        left_keys_(left_plan_keys_),
        right_keys_(is_flipped() ? plan.left_keys : plan.right_keys),
        table_(right_keys_.types(), KeyTable::Nulls::kNeverMatch),
        keeps_rows_(!asks_existence() || has_condition()) {
    table_.expect(right_count);
  }

 private:
  void add_right(const sql::Batch& batch) override {
    const std::vector<sql::ColumnPtr> keys = right_keys_.evaluate(batch, context().evaluation());
    table_.find_or_add(keys, batch.rows, numbers_);
    if (!keeps_rows_) return;
    // A row whose key has a NULL matches nothing; only a join that gives right rows without a match needs it.
    if (keeps_right() || gives_right() || std::ranges::find(numbers_, kNoRow) == numbers_.end()) {
      rows_by_key_.add(numbers_);
      keep_right(batch, row_range(0, batch.rows));
      return;
    }
    std::vector<RowNumber> rows;
    rows.reserve(batch.rows);
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (numbers_[row] == kNoRow) continue;
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

  void start_left(LeftRows& left) const override {
    const std::vector<sql::ColumnPtr> keys = left_keys_.evaluate(*left.batch, context().evaluation());
    table_.find(keys, left.batch->rows, left.numbers, left.search);
  }

  bool add_pairs(LeftRows& left) const override {
    Pairs& pairs = left.pairs;
    const bool gives_nulls = keeps_left() && !has_condition();
    if (keeps_rows_ && rows_by_key_.is_unique() && !asks_existence() && !gives_nulls && left.row == 0 && left.numbers.size() <= sql::kBatchRows) {
      pairs.add_matches(left.numbers);
      left.row = left.numbers.size();
      return false;
    }
    for (; left.row < left.numbers.size(); ++left.row, left.match = 0) {
      const RowNumber key = left.numbers[left.row];
      if (key == kNoRow && !gives_nulls) continue;
      if (pairs.is_full()) return true;
      if (key == kNoRow) {
        pairs.add(left.row, null_row());
        continue;
      }
      if (!keeps_rows_) {
        pairs.add(left.row, 0);
        continue;
      }
      if (asks_existence() && left.matched[left.row] != 0) continue;
      for (const std::size_t count = rows_by_key_.count(key); left.match < count; ++left.match) {
        if (pairs.is_full()) return true;
        pairs.add(left.row, rows_by_key_.row(key, left.match));
      }
    }
    return false;
  }

  bool is_thread_safe() const override { return are_thread_safe(left_plan_keys_); }

  std::size_t memory() const override { return JoinOperator::memory() + table_.memory() + rows_by_key_.memory(); }

  const std::vector<sql::ExpressionPtr>& left_plan_keys_;
  ExpressionList left_keys_, right_keys_;
  KeyTable table_;
  bool keeps_rows_;
  RowsByKey rows_by_key_;

  std::vector<RowNumber> numbers_;  // of the keys of a right batch
};

/// Reads the right input. When it fits, a HashJoinOperator does the work; else both inputs are divided by their keys'
/// hashes and joined part by part. Where the right input is a copy, and the left one has far fewer rows, the left one is kept instead.
class SpillingHashJoin final : public Operator, public SharedOperator {
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

  asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t workers) override {
    if (right_ && level_ == 0) co_await start_from_left();
    if (right_) co_await start();
    if (!run_ || left_parts_) co_return nullptr;
    co_return co_await executor::share(*run_, workers);
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
        run_ = std::make_unique<HashJoinOperator>(plan_, std::move(inputs), rows, context_);
        co_return;
      }
      rows += batch->rows;
      bytes += unread_memory(*batch);
      batches.push_back(std::move(*batch));
      if (turn_.is_over()) co_await turn_.yield();
    }
    left_ = std::make_unique<ReplayedSource>(std::move(batches), std::move(left_));
  }

  asio::awaitable<void> start() {
    // The rows, and then the table over them, take the limit together.
    const std::size_t most = limit_.bytes() / 2;
    std::vector<sql::Batch> batches;
    std::size_t bytes = 0, rows = 0;
    std::optional<sql::Batch> batch;
    bool has_room = true;
    while (has_room || level_ == RowPartitions::kMostLevels) {
      batch = co_await right_->next();
      if (!batch) break;
      batches.push_back(compact(std::move(*batch)));
      bytes += unread_memory(batches.back());
      rows += batches.back().rows;
      has_room = !limit_.is_exceeded(bytes) && bytes <= most;
      if (level_ == RowPartitions::kMostLevels) limit_.check_bound(bytes);
      if (turn_.is_over()) co_await turn_.yield();
    }
    if (!batch) {
      right_.reset();
      limit_.release();  // the join charges the rows that it takes
      JoinInputs inputs{plan_.kind, std::move(left_), std::make_unique<VectorSource>(std::move(batches)), left_types(), right_types(), plan_.residual, "hash join"};
      run_ = std::make_unique<HashJoinOperator>(plan_, std::move(inputs), rows, context_);
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

  /// A batch that holds no more than its own rows: texts in replies of Redis keep the whole reply. Borrowed columns stay unread.
  static sql::Batch compact(sql::Batch batch) {
    for (sql::ColumnPtr& column : batch.columns) {
      if (is_borrowed(*column) || (sql::storage_of(column->type()) != sql::Storage::kText && !column->is_encoded())) continue;
      const sql::Type type = column->type();
      RowStore copy({&type, 1});
      copy.append({&column, 1}, row_range(0, batch.rows));
      column = copy.take().columns[0];
    }
    return batch;
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
