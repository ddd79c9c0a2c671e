#include "executor/operators/expression_list.h"
#include "executor/operators/key_view.h"
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
    std::vector<sql::ColumnPtr> keys = group_by_.evaluate(*batch, context_.evaluation());
    const std::size_t first = first_of_last_group(keys, batch->rows);
    last_keys_ = std::move(keys);
    last_row_ = batch->rows - 1;
    if (first == batch->rows) co_return batch;
    const std::vector<RowNumber> rest = row_range(first, batch->rows - first);
    pending_ = batch->gather(rest);
    if (first == 0) co_return std::nullopt;  // the group before is complete
    ends_group_ = true;
    const std::vector<RowNumber> complete = row_range(0, first);
    co_return batch->gather(complete);
  }

 private:
  /// Returns the row with which the batch's last group begins; its number of rows: the group goes on from the batch before.
  std::size_t first_of_last_group(const std::vector<sql::ColumnPtr>& keys, std::size_t rows) const {
    const KeyViews views = views_of(keys);
    for (std::size_t row = rows - 1; row > 0; --row) {
      if (!equal_rows(views, row - 1, views, row)) return row;
    }
    if (last_keys_.empty()) return rows;
    const KeyViews last = views_of(last_keys_);
    return equal_rows(last, last_row_, views, 0) ? rows : 0;
  }

  ExpressionList group_by_;
  OperatorPtr input_;
  ExecutionContext& context_;
  std::vector<sql::ColumnPtr> last_keys_;  // of the batch read last
  std::size_t last_row_ = 0;
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
