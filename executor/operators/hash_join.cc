#include <numeric>

#include "executor/operators/expression_list.h"
#include "executor/operators/join_operator.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"

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
        left_keys_(plan.left_keys),
        right_keys_(plan.right_keys),
        table_(right_keys_.types(), KeyTable::Nulls::kNeverMatch),
        keeps_rows_(!asks_existence() || has_condition()) {}

 private:
  void add_right(const sql::Batch& batch) override {
    const std::vector<sql::ColumnPtr> keys = right_keys_.evaluate(batch, context().evaluation());
    table_.find_or_add(keys, batch.rows, numbers_);
    if (!keeps_rows_) return;
    // A row whose key has a NULL matches nothing; only a join that gives all right rows needs it.
    std::vector<RowNumber> rows;
    rows.reserve(batch.rows);
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (numbers_[row] == kNoRow && !keeps_right()) continue;
      rows.push_back(static_cast<RowNumber>(row));
      rows_by_key_.add(numbers_[row]);
    }
    keep_right(batch, rows);
  }

  void finish_right() override {
    if (keeps_rows_) rows_by_key_.finish(table_.size());
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

  ExpressionList left_keys_, right_keys_;
  KeyTable table_;
  bool keeps_rows_;
  RowsByKey rows_by_key_;

  std::vector<RowNumber> numbers_;  // of the keys of the left batch (while building: of the right one)
  std::size_t left_row_ = 0, match_ = 0;
};

}  // namespace

OperatorPtr make_hash_join(const planner::PhysicalNode&, const planner::HashJoin& plan, ExecutionContext& context) {
  JoinInputs inputs = open_join(plan, plan.residual, "hash join", context);
  return std::make_unique<HashJoinOperator>(plan, std::move(inputs), context);
}

}  // namespace redquel::executor
