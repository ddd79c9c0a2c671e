#include "executor/context/memory_limit.h"
#include "executor/operators/column_types.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"
#include "executor/operators/spill_file.h"
#include "executor/runtime/event_loop_turn.h"

namespace redquel::executor {

namespace {

/// DISTINCT: a row is given when its values come for the first time. When there is no room for more values, rows with
/// others wait on disk, by hash, until the input has ended.
class DistinctOperator final : public Operator {
 public:
  DistinctOperator(OperatorPtr input, std::span<const sql::Type> types, const char* name, ExecutionContext& context,
                   unsigned level)
      : input_(std::move(input)),
        types_(types.begin(), types.end()),
        name_(name),
        context_(context),
        level_(level),
        seen_(types_, KeyTable::Nulls::kEqual),
        limit_(context, name) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      if (turn_.is_over()) co_await turn_.yield();
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) {
        if (!start_next_part()) co_return std::nullopt;
        continue;
      }
      if (in_part_) co_return batch;
      const std::vector<RowNumber> rows = new_rows(*batch);
      if (rows.size() == batch->rows) co_return batch;
      if (rows.empty()) continue;
      co_return batch->gather(rows);
    }
  }

 private:
  std::vector<RowNumber> new_rows(const sql::Batch& batch) {
    const std::vector<sql::ColumnPtr> keys = decoded(batch.columns);
    if (partitions_) {
      seen_.find(keys, batch.rows, numbers_);
      std::vector<RowNumber> others;
      for (std::size_t row = 0; row < batch.rows; ++row) {
        if (numbers_[row] == kNoRow) others.push_back(static_cast<RowNumber>(row));
      }
      partitions_->add(keys, batch.columns, others);
      return {};
    }
    seen_.find_or_add(keys, batch.rows, numbers_);
    if (limit_.is_exceeded(seen_.memory())) {
      if (level_ < RowPartitions::kMostLevels) partitions_.emplace(types_, level_, limit_.temporary_space());
      limit_.check_bound(seen_.memory());
    }
    return {seen_.added().begin(), seen_.added().end()};
  }

  bool start_next_part() {
    seen_.clear();
    limit_.release();
    for (; partitions_ && part_ < RowPartitions::kCount; ++part_) {
      if (partitions_->rows(part_) == 0) continue;
      input_ = std::make_unique<DistinctOperator>(partitions_->take(part_++), types_, name_, context_, level_ + 1);
      in_part_ = true;
      return true;
    }
    return false;
  }

  OperatorPtr input_;  // when it has ended: an operator over one part of what waits, after the other
  std::vector<sql::Type> types_;
  const char* name_;
  ExecutionContext& context_;
  unsigned level_;
  KeyTable seen_;
  MemoryLimit limit_;
  EventLoopTurn turn_;
  std::vector<RowNumber> numbers_;
  std::optional<RowPartitions> partitions_;
  std::size_t part_ = 0;
  bool in_part_ = false;
};

/// DISTINCT ON: of rows that come ordered by the keys the first with each.
class DistinctOnOperator final : public Operator {
 public:
  DistinctOnOperator(const planner::PhysicalDistinct& plan, ExecutionContext& context)
      : on_(plan.on), input_(context.make_operator(*plan.input)), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) co_return std::nullopt;
      std::vector<sql::ColumnPtr> keys = on_.evaluate(*batch, context_.evaluation());
      const std::vector<RowNumber> rows = first_rows(keys, batch->rows);
      last_keys_ = std::move(keys);
      last_row_ = batch->rows - 1;
      if (rows.empty()) continue;
      co_return batch->gather(rows);
    }
  }

 private:
  std::vector<RowNumber> first_rows(const std::vector<sql::ColumnPtr>& keys, std::size_t count) const {
    const KeyViews views = views_of(keys);
    std::vector<RowNumber> rows;
    if (last_keys_.empty() || !equal_rows(views, 0, views_of(last_keys_), last_row_)) rows.push_back(0);
    for (std::size_t row = 1; row < count; ++row) {
      if (!equal_rows(views, row - 1, views, row)) rows.push_back(static_cast<RowNumber>(row));
    }
    return rows;
  }

  ExpressionList on_;
  OperatorPtr input_;
  ExecutionContext& context_;
  std::vector<sql::ColumnPtr> last_keys_;
  std::size_t last_row_ = 0;
};

}  // namespace

OperatorPtr make_distinct_rows(OperatorPtr input, std::span<const sql::Type> types, const char* name,
                               ExecutionContext& context) {
  return std::make_unique<DistinctOperator>(std::move(input), types, name, context, 0);
}

OperatorPtr make_distinct(const planner::PhysicalNode&, const planner::PhysicalDistinct& plan,
                          ExecutionContext& context) {
  if (!plan.on.empty()) return std::make_unique<DistinctOnOperator>(plan, context);
  return make_distinct_rows(context.make_operator(*plan.input), column_types(*plan.input), "DISTINCT", context);
}

}  // namespace redquel::executor
