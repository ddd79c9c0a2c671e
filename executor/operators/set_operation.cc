#include "executor/operators/event_loop_turn.h"
#include "executor/operators/key_table.h"
#include "executor/operators/make_operator.h"
#include "executor/operators/memory_limit.h"
#include "executor/operators/operators.h"

namespace redquel::executor {

namespace {

using Kind = planner::LogicalSetOperation::Kind;

/// The left rows, then the right ones; without ALL each once.
class UnionOperator final : public Operator {
 public:
  UnionOperator(const planner::PhysicalSetOperation& plan, ExecutionContext& context, std::span<const sql::Type> types)
      : plan_(plan),
        input_(make_operator(*plan.left, context)),
        context_(context),
        seen_(types, KeyTable::Nulls::kEqual),
        limit_(context, "UNION") {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) {
        if (on_the_right_) co_return std::nullopt;
        on_the_right_ = true;
        input_ = make_operator(*plan_.right, context_);
        continue;
      }
      if (plan_.all) co_return batch;
      const std::vector<sql::ColumnPtr> keys = decoded(batch->columns);
      seen_.find_or_add(keys, batch->rows, numbers_);
      limit_.check(seen_.memory());
      if (seen_.added().size() == batch->rows) co_return batch;
      if (seen_.added().empty()) continue;
      co_return batch->gather(seen_.added());
    }
  }

 private:
  const planner::PhysicalSetOperation& plan_;
  OperatorPtr input_;
  ExecutionContext& context_;
  bool on_the_right_ = false;
  KeyTable seen_;
  MemoryLimit limit_;
  std::vector<RowNumber> numbers_;
};

/// INTERSECT and EXCEPT: the right rows are counted, then the left ones are given or not.
class CountingOperator final : public Operator {
 public:
  CountingOperator(const planner::PhysicalSetOperation& plan, ExecutionContext& context,
                   std::span<const sql::Type> types)
      : intersects_(plan.kind == Kind::kIntersect),
        all_(plan.all),
        left_(make_operator(*plan.left, context)),
        right_(make_operator(*plan.right, context)),
        keys_(types, KeyTable::Nulls::kEqual),
        limit_(context, intersects_ ? "INTERSECT" : "EXCEPT") {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (right_) co_await count_right();
    if (intersects_ && keys_.size() == 0) co_return std::nullopt;
    while (true) {
      std::optional<sql::Batch> batch = co_await left_->next();
      if (!batch) co_return std::nullopt;
      const std::vector<RowNumber> rows = select(*batch);
      limit_.check(memory());
      if (rows.size() == batch->rows) co_return batch;
      if (rows.empty()) continue;
      co_return batch->gather(rows);
    }
  }

 private:
  asio::awaitable<void> count_right() {
    while (true) {
      std::optional<sql::Batch> batch = co_await right_->next();
      if (!batch) break;
      const std::vector<sql::ColumnPtr> keys = decoded(batch->columns);
      keys_.find_or_add(keys, batch->rows, numbers_);
      counts_.resize(keys_.size());
      for (const RowNumber number : numbers_) ++counts_[number];
      limit_.check(memory());
      if (turn_.is_over()) co_await turn_.yield();
    }
    right_.reset();
  }

  std::vector<RowNumber> select(const sql::Batch& batch) {
    const std::vector<sql::ColumnPtr> keys = decoded(batch.columns);
    if (intersects_ || all_) {
      keys_.find(keys, batch.rows, numbers_);
    } else {
      keys_.find_or_add(keys, batch.rows, numbers_);
      counts_.resize(keys_.size());
    }
    std::vector<RowNumber> rows;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (gives(numbers_[row])) rows.push_back(static_cast<RowNumber>(row));
    }
    return rows;
  }

  bool gives(RowNumber number) {
    if (number == kNoRow) return !intersects_;
    std::uint64_t& count = counts_[number];
    if (intersects_) {
      if (count == 0) return false;
      count = all_ ? count - 1 : 0;
      return true;
    }
    if (count == 0) {
      count = all_ ? 0 : 1;  // without ALL the row is not given again
      return true;
    }
    if (all_) --count;
    return false;
  }

  std::size_t memory() const { return keys_.memory() + counts_.capacity() * sizeof(counts_[0]); }

  bool intersects_, all_;
  OperatorPtr left_, right_;  // right: null when it has been counted
  KeyTable keys_;
  std::vector<std::uint64_t> counts_;  // of right rows by key that no left row has used up
  MemoryLimit limit_;
  EventLoopTurn turn_;
  std::vector<RowNumber> numbers_;
};

}  // namespace

OperatorPtr make_set_operation(const planner::PhysicalNode& node, const planner::PhysicalSetOperation& plan,
                               ExecutionContext& context) {
  const std::vector<sql::Type> types = column_types(node);
  if (plan.kind == Kind::kUnion) return std::make_unique<UnionOperator>(plan, context, types);
  return std::make_unique<CountingOperator>(plan, context, types);
}

}  // namespace redquel::executor
