#include "executor/operators/join_operator.h"

#include <algorithm>

#include "executor/operators/expression_list.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

using planner::JoinKind;

JoinOperator::JoinOperator(JoinInputs inputs, ExecutionContext& context)
    : kind_(inputs.kind),
      left_(std::move(inputs.left)),
      right_(std::move(inputs.right)),
      left_types_(std::move(inputs.left_types)),
      condition_(std::move(inputs.condition)),
      context_(context),
      limit_(context, inputs.name),
      right_rows_(inputs.right_types) {
  for (const std::uint32_t column : columns_used({&condition_, 1})) {
    if (column < left_types_.size()) {
      condition_left_.push_back(column);
    } else {
      condition_right_.push_back(column - static_cast<std::uint32_t>(left_types_.size()));
    }
  }
}

void JoinOperator::keep_right(const sql::Batch& batch, std::span<const RowNumber> rows) {
  const sql::Batch input = with_decoded(batch, condition_right_);
  right_rows_.append(input.columns, rows);
}

asio::awaitable<void> JoinOperator::build() {
  built_ = true;
  while (true) {
    std::optional<sql::Batch> batch = co_await right_->next();
    if (!batch) break;
    add_right(*batch);
    limit_.check_bound(memory());
    if (turn_.is_over()) co_await turn_.yield();
  }
  right_.reset();
  finish_right();
  if (keeps_right()) matched_right_.assign(right_rows_.rows(), 0);
  if (keeps_left()) {
    null_row_ = static_cast<RowNumber>(right_rows_.rows());
    right_rows_.append_nulls();
  }
  at_end_of_left_ =
      right_is_empty() && (kind_ == JoinKind::kInner || kind_ == JoinKind::kSemi || kind_ == JoinKind::kRight);
}

asio::awaitable<std::optional<sql::Batch>> JoinOperator::next() {
  if (!built_) co_await build();
  while (true) {
    if (!ready_.empty()) {
      std::optional<sql::Batch> batch = std::move(ready_.front());
      ready_.pop_front();
      co_return batch;
    }
    if (turn_.is_over()) co_await turn_.yield();
    if (left_batch_) {
      pairs_.clear();
      const bool more = add_pairs(pairs_);
      join_pairs();
      if (!more) finish_left();
    } else if (!at_end_of_left_) {
      std::optional<sql::Batch> batch = co_await left_->next();
      if (batch) {
        take_left(std::move(*batch));
      } else {
        at_end_of_left_ = true;
        left_.reset();
      }
    } else {
      co_return unmatched_right();
    }
  }
}

void JoinOperator::take_left(sql::Batch batch) {
  matched_left_.assign(batch.rows, 0);
  decoded_left_ = with_decoded(batch, condition_left_).columns;
  start_left(batch);
  left_batch_ = std::move(batch);
}

void JoinOperator::join_pairs() {
  if (pairs_.left.empty()) return;
  if (condition_) apply_condition();
  for (const RowNumber row : pairs_.left) matched_left_[row] = 1;
  if (keeps_right()) {
    for (const RowNumber row : pairs_.right) {
      if (row != null_row_) matched_right_[row] = 1;
    }
  }
  if (asks_existence() || pairs_.left.empty()) return;
  give(pairs_.left, right_rows_.gather(pairs_.right));
}

void JoinOperator::apply_condition() {
  // Only the columns that the condition reads are put together for all pairs.
  sql::Batch joined;
  joined.rows = pairs_.left.size();
  joined.columns.resize(left_types_.size() + right_rows_.columns().size());
  for (const std::uint32_t column : condition_left_) {
    joined.columns[column] = std::make_shared<const sql::Column>(decoded_left_[column]->gather(pairs_.left));
  }
  for (const std::uint32_t column : condition_right_) {
    joined.columns[left_types_.size() + column] =
        std::make_shared<const sql::Column>(right_rows_.columns()[column].gather(pairs_.right));
  }
  const std::vector<RowNumber> selected = sql::select_rows(*condition_, joined, context_.evaluation());
  for (std::size_t i = 0; i < selected.size(); ++i) {
    pairs_.left[i] = pairs_.left[selected[i]];
    pairs_.right[i] = pairs_.right[selected[i]];
  }
  pairs_.left.resize(selected.size());
  pairs_.right.resize(selected.size());
}

void JoinOperator::finish_left() {
  std::vector<RowNumber> rows;
  const bool wanted = kind_ == JoinKind::kSemi;  // else the rows without a match
  if (keeps_left() || asks_existence()) {
    for (std::size_t row = 0; row < left_batch_->rows; ++row) {
      if ((matched_left_[row] != 0) == wanted) rows.push_back(static_cast<RowNumber>(row));
    }
  }
  if (!rows.empty()) {
    sql::Batch right;
    if (keeps_left()) {
      const std::vector<RowNumber> nulls(rows.size(), null_row_);
      right = right_rows_.gather(nulls);
    }
    give(rows, std::move(right));
  }
  left_batch_.reset();
  decoded_left_.clear();
}

void JoinOperator::give(std::span<const RowNumber> left_rows, sql::Batch right) {
  bool whole = left_rows.size() == left_batch_->rows;
  for (std::size_t i = 0; whole && i < left_rows.size(); ++i) whole = left_rows[i] == i;
  sql::Batch batch = whole ? *left_batch_ : left_batch_->gather(left_rows);
  batch.columns.insert(batch.columns.end(), right.columns.begin(), right.columns.end());
  ready_.push_back(std::move(batch));
}

std::optional<sql::Batch> JoinOperator::unmatched_right() {
  std::vector<RowNumber> rows;
  for (; next_unmatched_ < matched_right_.size() && rows.size() < sql::kBatchRows; ++next_unmatched_) {
    if (matched_right_[next_unmatched_] == 0) rows.push_back(static_cast<RowNumber>(next_unmatched_));
  }
  if (rows.empty()) return std::nullopt;
  sql::Batch batch;
  batch.rows = rows.size();
  for (const sql::Type type : left_types_) {
    batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(type, {}, rows.size())));
  }
  sql::Batch right = right_rows_.gather(rows);
  batch.columns.insert(batch.columns.end(), right.columns.begin(), right.columns.end());
  return batch;
}

}  // namespace redquel::executor
