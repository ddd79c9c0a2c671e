#include "executor/operators/expression_list.h"
#include "executor/operators/key_table.h"
#include "executor/operators/make_operator.h"
#include "executor/operators/memory_limit.h"
#include "executor/operators/operators.h"

namespace redquel::executor {

namespace {

/// DISTINCT: a row is given when its values come for the first time.
class DistinctOperator final : public Operator {
 public:
  DistinctOperator(const planner::PhysicalDistinct& plan, ExecutionContext& context)
      : input_(make_operator(*plan.input, context)),
        seen_(column_types(*plan.input), KeyTable::Nulls::kEqual),
        limit_(context, "DISTINCT") {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) co_return std::nullopt;
      const std::vector<sql::ColumnPtr> keys = decoded(batch->columns);
      seen_.find_or_add(keys, batch->rows, numbers_);
      limit_.check(seen_.memory());
      if (seen_.added().size() == batch->rows) co_return batch;
      if (seen_.added().empty()) continue;
      co_return batch->gather(seen_.added());
    }
  }

 private:
  OperatorPtr input_;
  KeyTable seen_;
  MemoryLimit limit_;
  std::vector<RowNumber> numbers_;
};

/// DISTINCT ON: of rows that come ordered by the keys the first with each.
class DistinctOnOperator final : public Operator {
 public:
  DistinctOnOperator(const planner::PhysicalDistinct& plan, ExecutionContext& context)
      : on_(plan.on), input_(make_operator(*plan.input, context)), context_(context) {}

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

OperatorPtr make_distinct(const planner::PhysicalNode&, const planner::PhysicalDistinct& plan,
                          ExecutionContext& context) {
  if (plan.on.empty()) return std::make_unique<DistinctOperator>(plan, context);
  return std::make_unique<DistinctOnOperator>(plan, context);
}

}  // namespace redquel::executor
