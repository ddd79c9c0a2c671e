#include "executor/operators/join_operator.h"
#include "executor/operators/operators.h"

namespace redquel::executor {

namespace {

class NestedLoopJoinOperator final : public JoinOperator {
 public:
  NestedLoopJoinOperator(JoinInputs inputs, ExecutionContext& context) : JoinOperator(std::move(inputs), context) {}

 private:
  void add_right(const sql::Batch& batch) override {
    // Without a condition one right row is enough.
    if (asks_existence() && !has_condition() && right_count_ > 0) return;
    const std::vector<RowNumber> rows = row_range(0, batch.rows);
    keep_right(batch, rows);
    right_count_ += batch.rows;
  }

  bool right_is_empty() const override { return right_count_ == 0; }

  bool add_pairs(LeftRows& left) const override {
    Pairs& pairs = left.pairs;
    const std::size_t most =
        asks_existence() && !has_condition() ? std::min<std::size_t>(right_count_, 1) : right_count_;
    const bool gives_nulls = keeps_left() && !has_condition() && right_count_ == 0;
    for (; left.row < left.batch->rows; ++left.row, left.match = 0) {
      if (asks_existence() && left.matched[left.row] != 0) continue;
      if (gives_nulls) {
        if (pairs.is_full()) return true;
        pairs.add(left.row, null_row());
      }
      for (; left.match < most; ++left.match) {
        if (pairs.is_full()) return true;
        pairs.add(left.row, left.match);
      }
    }
    return false;
  }

  std::size_t right_count_ = 0;
};

}  // namespace

OperatorPtr make_nested_loop_join(const planner::PhysicalNode&, const planner::NestedLoopJoin& plan,
                                  ExecutionContext& context) {
  JoinInputs inputs = open_join(plan, plan.condition, "nested loop join", context);
  return std::make_unique<NestedLoopJoinOperator>(std::move(inputs), context);
}

}  // namespace redquel::executor
