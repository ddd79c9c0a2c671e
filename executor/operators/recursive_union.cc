#include <algorithm>
#include <optional>

#include "executor/context/memory_limit.h"
#include "executor/operators/column_types.h"
#include "executor/operators/correlated_subquery.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"
#include "executor/operators/plan_volatility.h"
#include "executor/operators/shared_rows.h"
#include "executor/runtime/event_loop_turn.h"

namespace redquel::executor {

namespace {

/// Each round runs the recursive term over the rows of the round before, until one gives nothing. No more rows are held back than have
/// been given, so that a LIMIT above ends an endless recursion.
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
        run_(context.make_operator(*plan.left)),
        keeps_run_(begins_anew(*plan.right, context)),
        gathers_(!is_volatile(*plan.right)),
        gathered_(types_),
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
      if (!gathers_) co_return rows;
      gathered_.append_all(rows);
      if (gathered_.rows() >= std::min(given_, sql::kBatchRows)) co_return give();
    }
    if (gathered_.rows() > 0) co_return give();
    co_return std::nullopt;
  }

 private:
  sql::Batch give() {
    given_ += gathered_.rows();
    return gathered_.take();
  }

  void start_round() {
    const bool is_first = !std::exchange(is_recursive_, true);
    if (is_first || !keeps_run_) run_.reset();
    previous_.take(current_);
    if (previous_.empty()) {
      run_.reset();
    } else if (!run_) {
      run_ = context_.make_operator(*plan_.right);
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
  const bool gathers_;         // rows of several rounds go out together
  RowStore gathered_;
  std::size_t given_ = 0;
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
