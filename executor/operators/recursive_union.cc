#include <optional>

#include "executor/operators/event_loop_turn.h"
#include "executor/operators/key_table.h"
#include "executor/operators/make_operator.h"
#include "executor/operators/memory_limit.h"
#include "executor/operators/operators.h"
#include "executor/operators/shared_rows.h"

namespace redquel::executor {

namespace {

/// Gives the rows of the rounds one after the other: after its end it begins anew with the rows that are there then.
bool begins_anew(const planner::PhysicalNode& node, std::uint32_t number) {
  if (const auto* project = std::get_if<planner::PhysicalProject>(&node.node)) return begins_anew(*project->input, number);
  if (const auto* filter = std::get_if<planner::PhysicalFilter>(&node.node)) return begins_anew(*filter->input, number);
  const auto* scan = std::get_if<planner::PhysicalSharedScan>(&node.node);
  return scan != nullptr && scan->number == number;
}

/// Each round runs the recursive term over the rows of the round before, until one gives nothing. Rows go out as they come, so that a
/// LIMIT above ends an endless recursion.
class RecursiveUnionOperator final : public Operator {
 public:
  RecursiveUnionOperator(const planner::PhysicalNode& node, const planner::PhysicalRecursiveUnion& plan, ExecutionContext& context)
      : plan_(plan),
        context_(context),
        types_(column_types(node)),
        known_(types_, KeyTable::Nulls::kEqual),
        previous_(nullptr, context, "recursive query"),
        current_(nullptr, context, "recursive query"),
        scope_(context, plan.number, previous_),
        run_(make_operator(*plan.left, context)),
        keeps_run_(context.statistics == nullptr && begins_anew(*plan.right, plan.number)),  // statistics count the rounds
        limit_(context, "recursive query") {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (run_) {
      if (turn_.is_over()) co_await turn_.yield();
      std::optional<sql::Batch> batch = co_await run_->next();
      if (!batch) {
        start_round();
        continue;
      }
      sql::Batch rows = plan_.all ? *std::move(batch) : new_rows(*batch);
      if (rows.rows == 0) continue;
      current_.add(rows, types_);
      co_return rows;
    }
    co_return std::nullopt;
  }

 private:
  void start_round() {
    const bool is_first = !std::exchange(is_recursive_, true);
    if (is_first || !keeps_run_) run_.reset();
    previous_.take(current_);
    if (previous_.empty()) {
      run_.reset();
    } else if (!run_) {
      run_ = make_operator(*plan_.right, context_);
    }
  }

  sql::Batch new_rows(const sql::Batch& batch) {
    const std::vector<sql::ColumnPtr> keys = decoded(batch.columns);
    known_.find_or_add(keys, batch.rows, numbers_);
    limit_.check(known_.memory());
    return batch.gather(known_.added());
  }

  const planner::PhysicalRecursiveUnion& plan_;
  ExecutionContext& context_;
  std::vector<sql::Type> types_;
  KeyTable known_;  // all rows so far, where they must differ
  SharedRows previous_, current_;
  SharedRowsScope scope_;
  OperatorPtr run_;  // of the term that gives rows; null at the end
  bool is_recursive_ = false;  // it is the recursive term's
  const bool keeps_run_;       // which is made once for all rounds
  MemoryLimit limit_;
  EventLoopTurn turn_;
  std::vector<RowNumber> numbers_;
};

}  // namespace

OperatorPtr make_recursive_union(const planner::PhysicalNode& node, const planner::PhysicalRecursiveUnion& plan,
                                 ExecutionContext& context) {
  return std::make_unique<RecursiveUnionOperator>(node, plan, context);
}

}  // namespace redquel::executor
