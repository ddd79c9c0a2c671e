#include "executor/operators/join_operator.h"

#include <algorithm>

#include "executor/context/thread_safety.h"
#include "executor/operators/expression_list.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

using planner::JoinKind;

namespace {

JoinKind mirrored(JoinKind kind) {
  if (kind == JoinKind::kLeft) return JoinKind::kRight;
  return kind == JoinKind::kRight ? JoinKind::kLeft : kind;
}

}  // namespace

JoinOperator::JoinOperator(JoinInputs inputs, ExecutionContext& context)
    : kind_(inputs.is_flipped ? mirrored(inputs.kind) : inputs.kind),
      is_flipped_(inputs.is_flipped),
      left_(std::move(inputs.left)),
      right_(std::move(inputs.right)),
      left_types_(std::move(inputs.left_types)),
      condition_(std::move(inputs.condition)),
      context_(context),
      limit_(context, inputs.name),
      right_rows_(inputs.right_types) {
  const std::size_t first_count = is_flipped_ ? inputs.right_types.size() : left_types_.size();
  for (const std::uint32_t column : columns_used({&condition_, 1})) {
    const bool is_first = column < first_count;
    (is_first != is_flipped_ ? condition_left_ : condition_right_).push_back(is_first ? column : column - static_cast<std::uint32_t>(first_count));
  }
}

void JoinOperator::leave_out(std::size_t column, const KeyFilterPtr& filter) {
  const std::size_t first_count = is_flipped_ ? right_rows_.column_count() : left_types_.size();
  const bool is_first = column < first_count;
  Operator* const input = is_first != is_flipped_ ? left_.get() : right_.get();
  if (input != nullptr) input->leave_out(is_first ? column : column - first_count, filter);
}

void JoinOperator::keep_right(const sql::Batch& batch, std::span<const RowNumber> rows) {
  // The condition reads its columns for each pair: short values are kept for that. Long ones stay borrowed until pairs are compared.
  std::vector<std::uint32_t> compared = condition_right_;
  std::erase_if(compared, [&](std::uint32_t column) {
    const sql::Storage storage = sql::storage_of(batch.columns[column]->type());
    return is_borrowed(*batch.columns[column]) && (storage == sql::Storage::kText || storage == sql::Storage::kNumeric);
  });
  const sql::Batch input = with_decoded(batch, compared);
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
  if (drops_left()) narrow_left(*left_);
  if (keeps_right() || gives_right()) matched_right_.assign(right_rows_.rows(), 0);
  if (keeps_left()) {
    null_row_ = static_cast<RowNumber>(right_rows_.rows());
    right_rows_.append_nulls();
  }
  right_rows_.finish();
  at_end_of_left_ = right_is_empty() && drops_left();
}

asio::awaitable<std::optional<sql::Batch>> JoinOperator::next() {
  if (!built_) co_await build();
  LeftRows& left = left_rows_;
  while (true) {
    if (!left.ready.empty()) {
      std::optional<sql::Batch> batch = std::move(left.ready.front());
      left.ready.pop_front();
      co_return batch;
    }
    if (turn_.is_over()) co_await turn_.yield();
    if (left.batch) {
      advance(left);
    } else if (!at_end_of_left_) {
      std::optional<sql::Batch> batch = co_await left_->next();
      if (batch) {
        take_left(left, std::move(*batch));
      } else {
        at_end_of_left_ = true;
        left_.reset();
      }
    } else {
      co_return rest_of_right();
    }
  }
}

/// Rows of the left input that several threads join.
class JoinOperator::SharedJoin final : public Morsels {
 public:
  SharedJoin(JoinOperator& join, std::unique_ptr<Morsels> input, std::size_t workers) : join_(join), input_(std::move(input)), lefts_(workers) {}

  std::optional<sql::Batch> next(std::size_t worker) override {
    LeftRows& left = lefts_[worker];
    if (left.ready.empty() && !left.batch) {
      std::optional<sql::Batch> batch = input_->next(worker);
      if (!batch || batch->rows == 0) return batch;
      join_.take_left(left, std::move(*batch));
    }
    if (left.ready.empty()) join_.advance(left);
    if (left.ready.empty()) return sql::Batch();
    sql::Batch batch = std::move(left.ready.front());
    left.ready.pop_front();
    return batch;
  }

 private:
  JoinOperator& join_;
  const std::unique_ptr<Morsels> input_;
  std::vector<LeftRows> lefts_;
};

asio::awaitable<std::unique_ptr<Morsels>> JoinOperator::share(std::size_t workers) {
  if (!built_) co_await build();
  // Matches of right rows are noted in one thread.
  const bool is_shared = !at_end_of_left_ && !keeps_right() && !gives_right() && is_thread_safe() && are_thread_safe({&condition_, 1});
  std::unique_ptr<Morsels> input;
  if (is_shared) input = co_await executor::share(*left_, workers);
  if (!input) co_return nullptr;
  co_return std::make_unique<SharedJoin>(*this, std::move(input), workers);
}

void JoinOperator::take_left(LeftRows& left, sql::Batch batch) const {
  left.matched.assign(batch.rows, 0);
  left.decoded = with_decoded(batch, condition_left_).columns;
  left.batch = std::move(batch);
  left.row = left.match = 0;
  start_left(left);
}

void JoinOperator::advance(LeftRows& left) {
  left.pairs.clear();
  const bool more = add_pairs(left);
  join_pairs(left);
  if (!more) finish_left(left);
}

void JoinOperator::join_pairs(LeftRows& left) {
  Pairs& pairs = left.pairs;
  if (pairs.left.empty()) return;
  if (condition_) apply_condition(left);
  if (keeps_left() || asks_existence()) {
    for (const RowNumber row : pairs.left) left.matched[row] = 1;
  }
  if (keeps_right() || gives_right()) {
    for (const RowNumber row : pairs.right) {
      if (row != null_row_) matched_right_[row] = 1;
    }
  }
  if (is_semi_or_anti() || pairs.left.empty()) return;
  give(left, pairs.left, right_rows_.gather(pairs.right));
}

void JoinOperator::apply_condition(LeftRows& left) const {
  // Only the columns that the condition reads are put together for all pairs.
  Pairs& pairs = left.pairs;
  sql::Batch joined;
  joined.rows = pairs.left.size();
  const std::size_t left_count = left_types_.size(), right_count = right_rows_.column_count();
  joined.columns.resize(left_count + right_count);
  const std::size_t first_left = is_flipped_ ? right_count : 0, first_right = is_flipped_ ? 0 : left_count;
  for (const std::uint32_t column : condition_left_) {
    joined.columns[first_left + column] = std::make_shared<const sql::Column>(left.decoded[column]->gather(pairs.left));
  }
  for (const std::uint32_t column : condition_right_) {
    joined.columns[first_right + column] = std::make_shared<const sql::Column>(right_rows_.gather(column, pairs.right));
  }
  const std::vector<RowNumber> selected = sql::select_rows(*condition_, joined, context_.evaluation());
  for (std::size_t i = 0; i < selected.size(); ++i) {
    pairs.left[i] = pairs.left[selected[i]];
    pairs.right[i] = pairs.right[selected[i]];
  }
  pairs.left.resize(selected.size());
  pairs.right.resize(selected.size());
}

void JoinOperator::finish_left(LeftRows& left) const {
  std::vector<RowNumber> rows;
  const bool wanted = kind_ == JoinKind::kSemi;  // else the rows without a match
  if (keeps_left() || asks_existence()) {
    for (std::size_t row = 0; row < left.batch->rows; ++row) {
      if ((left.matched[row] != 0) == wanted) rows.push_back(static_cast<RowNumber>(row));
    }
  }
  if (!rows.empty()) {
    sql::Batch right;
    if (keeps_left()) {
      const std::vector<RowNumber> nulls(rows.size(), null_row_);
      right = right_rows_.gather(nulls);
    }
    give(left, rows, std::move(right));
  }
  left.batch.reset();
  left.decoded.clear();
}

void JoinOperator::give(LeftRows& left, std::span<const RowNumber> rows, sql::Batch right) const {
  bool whole = rows.size() == left.batch->rows;
  for (std::size_t i = 0; whole && i < rows.size(); ++i) whole = rows[i] == i;
  left.ready.push_back(in_order(whole ? *left.batch : left.batch->gather(rows), right));
}

sql::Batch JoinOperator::in_order(sql::Batch left, const sql::Batch& right) const {
  left.columns.insert(is_flipped_ ? left.columns.begin() : left.columns.end(), right.columns.begin(), right.columns.end());
  return left;
}

std::optional<sql::Batch> JoinOperator::rest_of_right() {
  const std::uint8_t wanted = gives_right() && kind_ == JoinKind::kSemi ? 1 : 0;  // else the rows without a match
  std::vector<RowNumber> rows;
  for (; next_of_rest_ < matched_right_.size() && rows.size() < sql::kBatchRows; ++next_of_rest_) {
    if (matched_right_[next_of_rest_] == wanted) rows.push_back(static_cast<RowNumber>(next_of_rest_));
  }
  if (rows.empty()) return std::nullopt;
  sql::Batch right = right_rows_.gather(rows);
  if (gives_right()) return right;
  sql::Batch nulls;
  nulls.rows = rows.size();
  for (const sql::Type type : left_types_) {
    nulls.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(type, {}, rows.size())));
  }
  return in_order(std::move(nulls), right);
}

}  // namespace redquel::executor
