#include "executor/operators/expression_list.h"
#include "executor/operators/group_changes.h"
#include "executor/operators/operators.h"
#include "executor/runtime/row_store.h"

namespace redquel::executor {

namespace {

/// Rows whose groups come one after another, up to the last row of a group: then its end, and the next groups when it is asked again.
class GroupedRows {
 public:
  GroupedRows(const planner::PhysicalAggregate& plan, ExecutionContext& context)
      : group_by_(plan.group_by), input_(context.make_operator(*plan.input)), context_(context) {}

  bool at_end() const { return !input_ && !pending_; }

  asio::awaitable<std::optional<sql::Batch>> next() {
    if (ends_group_) {
      ends_group_ = false;
      co_return std::nullopt;
    }
    std::optional<sql::Batch> batch = std::exchange(pending_, std::nullopt);
    if (batch) co_return batch;
    if (input_) batch = co_await input_->next();
    if (!batch) {
      input_.reset();
      co_return std::nullopt;
    }
    const std::vector<sql::ColumnPtr> keys = group_by_.evaluate(*batch, context_.evaluation());
    const std::optional<std::size_t> first = changes_.take(keys, batch->rows, [](const GroupKeys& a, std::size_t row_a, const GroupKeys& b, std::size_t row_b) {
      return equal_rows(a.views, row_a, b.views, row_b);
    });
    if (!first) co_return batch;
    const std::vector<RowNumber> rest = row_range(*first, batch->rows - *first);
    pending_ = batch->gather(rest);
    if (*first == 0) co_return std::nullopt;  // the group before is complete
    ends_group_ = true;
    const std::vector<RowNumber> complete = row_range(0, *first);
    co_return batch->gather(complete);
  }

 private:
  ExpressionList group_by_;
  OperatorPtr input_;
  ExecutionContext& context_;
  GroupChanges changes_;
  std::optional<sql::Batch> pending_;  // rows of a group that is not complete
  bool ends_group_ = false;            // the rows that were given last are the end of a group
};

/// The rows up to the end of a group, as an operator's input.
class RowsOfGroups final : public Operator {
 public:
  explicit RowsOfGroups(GroupedRows& rows) : rows_(rows) {}
  asio::awaitable<std::optional<sql::Batch>> next() override { return rows_.next(); }

 private:
  GroupedRows& rows_;
};

/// Gives groups as soon as they are complete: those of a window of rows, by hashing.
class GroupAggregateOperator final : public Operator {
 public:
  GroupAggregateOperator(const planner::PhysicalNode& node, const planner::PhysicalAggregate& plan, ExecutionContext& context)
      : node_(node), plan_(plan), context_(context), rows_(plan, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      if (!groups_ && rows_.at_end()) co_return std::nullopt;
      if (!groups_) groups_ = make_hash_aggregate(node_, plan_, std::make_unique<RowsOfGroups>(rows_), context_);
      std::optional<sql::Batch> batch = co_await groups_->next();
      if (batch) co_return batch;
      groups_.reset();
    }
  }

 private:
  const planner::PhysicalNode& node_;
  const planner::PhysicalAggregate& plan_;
  ExecutionContext& context_;
  GroupedRows rows_;
  OperatorPtr groups_;
};

}  // namespace

OperatorPtr make_group_aggregate(const planner::PhysicalNode& node, const planner::PhysicalAggregate& plan, ExecutionContext& context) {
  return std::make_unique<GroupAggregateOperator>(node, plan, context);
}

}  // namespace redquel::executor
