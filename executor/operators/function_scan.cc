#include <algorithm>

#include "executor/operators/operators.h"
#include "executor/operators/sequence_evaluation.h"
#include "executor/operators/user_function.h"
#include "executor/runtime/computation.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/row_store.h"
#include "executor/tables/engine_functions.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/user_function_call.h"
#include "sql/interrupts.h"

namespace redquel::executor {

namespace {

/// The rows of one function, row by row beside others.
class FunctionRows {
 public:
  FunctionRows(const planner::TableFunctionCall& call, std::vector<sql::Type> types, ExecutionContext& context)
      : call_(call), types_(std::move(types)), context_(context) {}

  /// Once, before the first rows are asked for.
  asio::awaitable<void> open() {
    std::vector<sql::Datum> arguments;
    if (calls_sequences(call_.arguments)) {
      const sql::Batch one_row{.rows = 1, .columns = {}};
      const std::vector<sql::ColumnPtr> values = co_await evaluate_with_sequences(call_.arguments, one_row, context_);
      for (const sql::ColumnPtr& value : values) arguments.push_back(value->datum(0));
    } else {
      for (const sql::ExpressionPtr& argument : call_.arguments) {
        auto value = [&] { return sql::evaluate_scalar(*argument, context_.evaluation()); };
        if (may_take_long({&argument, 1})) arguments.push_back(co_await compute_in_turns(std::move(value)));
        else arguments.push_back(value());
      }
    }
    if (call_.function == &sql::user_function_rows()) {
      rows_ = co_await run_user_function(call_, types_, std::move(arguments), context_);
    } else if (call_.function != nullptr && call_.function->open_record != nullptr) {
      auto open = [&] { return in_scope([&] { return call_.function->open_record(arguments, call_.columns, context_.evaluation()); }); };
      rows_ = co_await compute_in_turns(std::move(open));
    } else if (call_.function != nullptr) {
      auto open = [&] { return in_scope([&] { return call_.function->open(arguments, context_.evaluation()); }); };
      rows_ = co_await compute_in_turns(std::move(open));
    } else {
      value_.rows = 1;
      value_.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(types_[0], arguments[0], 1)));
    }
  }

  /// Before it is opened again.
  void close() {
    ended_ = false;
    rows_.reset();
    value_ = {};
  }

  /// At most `limit` rows; an empty batch is the end. Several functions may end at different rows.
  sql::Batch next(std::size_t limit) {
    if (ended_) return {};
    sql::Batch batch = rows_ ? rows_->next(limit) : std::exchange(value_, {});
    ended_ = batch.rows == 0 || !rows_;
    return batch;
  }

  /// Exactly so many rows of what `next` has given and gives; NULLs behind the end.
  void fill(RowStore& rows, std::size_t count) {
    while (rows.rows() < count) {
      const sql::Batch batch = next(count - rows.rows());
      if (batch.rows == 0) break;
      rows.append_all(batch);
    }
  }
  const std::vector<sql::Type>& types() const { return types_; }

 private:
  template <class Open>
  std::unique_ptr<sql::RowSource> in_scope(const Open& open) {
    const sql::InterruptScope interrupts(context_.evaluation().backend_pid);
    return open();
  }

  const planner::TableFunctionCall& call_;
  std::vector<sql::Type> types_;
  ExecutionContext& context_;
  bool ended_ = false;
  std::unique_ptr<sql::RowSource> rows_;
  sql::Batch value_;
};

class FunctionScanOperator final : public Operator {
 public:
  FunctionScanOperator(const planner::PhysicalNode& node, const planner::PhysicalFunctionScan& plan, ExecutionContext& context)
      : plan_(plan) {
    std::size_t first = 0;
    for (const planner::TableFunctionCall& call : plan.calls) {
      const std::size_t own = call.function != nullptr ? call.function->columns.size() : 1;
      const std::size_t width = call.columns.empty() ? own : call.columns.size();
      std::vector<sql::Type> types;
      for (std::size_t i = 0; i < width; ++i) types.push_back(node.columns[first + i].type);
      first += width;
      functions_.emplace_back(call, std::move(types), context);
    }
  }

  /// Asked again after the end it begins anew, with the arguments as they are then.
  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (turn_.is_over()) co_await turn_.yield();
    if (!std::exchange(opened_, true)) {
      for (FunctionRows& function : functions_) co_await function.open();
    }
    sql::Batch batch = functions_.size() == 1 ? functions_[0].next(sql::kBatchRows) : side_by_side();
    if (batch.rows == 0) {
      for (FunctionRows& function : functions_) function.close();
      opened_ = false;
      ordinality_ = 0;
      co_return std::nullopt;
    }
    if (plan_.with_ordinality) {
      std::vector<std::int64_t> numbers(batch.rows);
      for (std::int64_t& number : numbers) number = ++ordinality_;
      batch.columns.push_back(
          std::make_shared<const sql::Column>(sql::Column::from_values(sql::kInt8, std::move(numbers))));
    }
    co_return batch;
  }

 private:
  /// Returns as many rows as the longest function has.
  sql::Batch side_by_side() {
    std::vector<RowStore> parts;
    sql::Batch batch;
    for (FunctionRows& function : functions_) {
      parts.emplace_back(function.types());
      function.fill(parts.back(), sql::kBatchRows);
      batch.rows = std::max(batch.rows, parts.back().rows());
    }
    for (RowStore& part : parts) {
      while (part.rows() < batch.rows) part.append_nulls();
      sql::Batch rows = part.take();
      batch.columns.insert(batch.columns.end(), rows.columns.begin(), rows.columns.end());
    }
    return batch;
  }

  const planner::PhysicalFunctionScan& plan_;
  EventLoopTurn turn_;
  std::vector<FunctionRows> functions_;
  bool opened_ = false;
  std::int64_t ordinality_ = 0;
};

}  // namespace

OperatorPtr make_function_scan(const planner::PhysicalNode& node, const planner::PhysicalFunctionScan& plan,
                               ExecutionContext& context) {
  for (const planner::TableFunctionCall& call : plan.calls) {
    if (call.function == nullptr || call.function == &sql::user_function_rows() || call.function->open != nullptr || call.function->open_record != nullptr) continue;
    if (plan.calls.size() > 1) throw sql::not_supported("function " + std::string(call.function->name) + " beside others");
    return make_engine_function(plan, context);
  }
  return std::make_unique<FunctionScanOperator>(node, plan, context);
}

}  // namespace redquel::executor
