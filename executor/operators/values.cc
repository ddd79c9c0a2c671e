#include <algorithm>

#include "executor/operators/operators.h"
#include "executor/operators/sequence_evaluation.h"
#include "executor/runtime/computation.h"
#include "executor/runtime/event_loop_turn.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class ValuesOperator final : public Operator {
 public:
  ValuesOperator(const planner::PhysicalNode& node, const planner::PhysicalValues& plan, ExecutionContext& context)
      : node_(node), plan_(plan), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (turn_.is_over()) co_await turn_.yield();
    if (next_ == plan_.rows.size()) co_return std::nullopt;
    const std::size_t end = std::min(plan_.rows.size(), next_ + sql::kBatchRows);
    sql::Batch batch;
    batch.rows = end - next_;
    std::vector<sql::Column> columns;
    columns.reserve(node_.columns.size());
    batch.columns.reserve(node_.columns.size());
    for (const planner::PhysicalColumn& column : node_.columns) columns.emplace_back(column.type).reserve(batch.rows);
    for (; next_ < end; ++next_) {
      const std::vector<sql::ExpressionPtr>& row = plan_.rows[next_];
      if (calls_sequences(row)) {
        const sql::Batch no_columns{.rows = 1, .columns = {}};
        const std::vector<sql::ColumnPtr> values = co_await evaluate_with_sequences(row, no_columns, context_);
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].append_datum(values[i]->datum(0));
        continue;
      }
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (const auto* constant = std::get_if<sql::Constant>(&row[i]->node)) {
          columns[i].append_datum(constant->value);
        } else {
          auto value = [&] { return sql::evaluate_scalar(*row[i], context_.evaluation()); };
          if (may_take_long({&row[i], 1})) columns[i].append_datum(co_await compute_in_turns(std::move(value)));
          else columns[i].append_datum(value());
        }
      }
    }
    for (sql::Column& column : columns) batch.columns.push_back(std::make_shared<const sql::Column>(std::move(column)));
    co_return batch;
  }

 private:
  const planner::PhysicalNode& node_;
  const planner::PhysicalValues& plan_;
  ExecutionContext& context_;
  EventLoopTurn turn_;
  std::size_t next_ = 0;
};

}  // namespace

OperatorPtr make_values(const planner::PhysicalNode& node, const planner::PhysicalValues& plan,
                        ExecutionContext& context) {
  return std::make_unique<ValuesOperator>(node, plan, context);
}

}  // namespace redquel::executor
