#include <algorithm>

#include "executor/context/memory_limit.h"
#include "executor/operators/correlated_subquery.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/in_subquery.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"
#include "executor/runtime/event_loop_turn.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using ApplyKind = planner::LogicalApply::Kind;

/// Input columns whose values decide the subquery's answer: the correlated ones, and for IN those that are compared.
std::vector<std::uint32_t> deciding_columns(const planner::PhysicalApply& plan) {
  std::vector<std::uint32_t> columns;
  for (const auto& correlation : plan.correlations) columns.push_back(static_cast<std::uint32_t>(correlation.position));
  for (const std::uint32_t column : columns_used({&plan.comparison, 1})) {
    if (column < plan.input->columns.size()) columns.push_back(column);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

std::vector<sql::Type> types_at(const planner::PhysicalNode& node, const std::vector<std::uint32_t>& positions) {
  std::vector<sql::Type> types;
  for (const std::uint32_t position : positions) types.push_back(node.columns[position].type);
  return types;
}

/// Adds one column to the input: a scalar subquery's value, EXISTS, or op ANY / ALL. Answers are remembered by the
/// values that decide them, so that equal rows ask once; what depends on no row is asked once in all.
class ApplyOperator final : public Operator {
 public:
  ApplyOperator(const planner::PhysicalNode& node, const planner::PhysicalApply& plan, ExecutionContext& context)
      : plan_(plan),
        input_(context.make_operator(*plan.input)),
        context_(context),
        subquery_(plan, context),
        deciding_(deciding_columns(plan)),
        compared_(columns_used({&plan.comparison, 1})),
        memo_(identity_types(types_at(*plan.input, deciding_)), KeyTable::Nulls::kEqual),
        answers_(std::vector<sql::Type>{node.columns.back().type}),
        limit_(context, "subquery") {
    remembers_ =
        deciding_.empty() || (subquery_.is_repeatable() && (!plan.comparison || !sql::is_volatile(*plan.comparison)));
    if (plan.kind == ApplyKind::kIn && !subquery_.is_correlated()) set_ = SubquerySet::match(plan, context.evaluation());
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (pending_) std::rethrow_exception(pending_);
    std::optional<sql::Batch> batch = co_await input_->next();
    if (!batch) co_return std::nullopt;
    sql::ColumnPtr answers = co_await answer(*batch);
    if (pending_) batch = batch->gather(row_range(0, answers->size()));
    batch->columns.push_back(std::move(answers));
    co_return batch;
  }

 private:
  asio::awaitable<sql::ColumnPtr> answer(const sql::Batch& input) {
    if (plan_.kind == ApplyKind::kIn && !subquery_.is_correlated() && !has_rows_) co_await read_rows();
    if (set_) co_return set_->test(input, context_.evaluation());

    const sql::Batch batch = with_decoded(input, deciding_);
    subquery_.start(batch);
    std::vector<RowNumber> numbers, asked;
    if (remembers_) {
      if (!deciding_.empty() && memo_.memory() + answers_.memory() > limit_.bytes() / kMemoShare) {
        memo_.clear();
        answers_.clear();
      }
      std::vector<sql::ColumnPtr> keys;
      for (const std::uint32_t column : deciding_) keys.push_back(batch.columns[column]);
      keys = identity_columns(keys, context_.evaluation());
      memo_.find_or_add(keys, batch.rows, numbers);
      asked.assign(memo_.added().begin(), memo_.added().end());
    } else {
      answers_.clear();
      numbers = row_range(0, batch.rows);
      asked = numbers;
    }
    std::vector<std::optional<CorrelatedSubquery::Rows>> answered;  // of the rows that ran together, from the `first` on
    std::size_t first = 0;
    const bool is_value = plan_.kind == ApplyKind::kScalar;
    const bool may_run_together = subquery_.may_run_together() && (is_value || plan_.kind == ApplyKind::kExists);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const RowNumber row = asked[i];
      if (turn_.is_over()) co_await turn_.yield();
      if (may_run_together && i == first + answered.size() && asked.size() - i > 1) {
        const std::size_t count = std::min(CorrelatedSubquery::kTogether, asked.size() - i);
        answered = co_await subquery_.run_together(std::span(asked).subspan(i, count), 1, !is_value);
        first = i;
      }
      try {
        const bool is_answered = i < first + answered.size() && answered[i - first];
        if (!is_answered) co_await ask(batch, row);
        else if (is_value) append_value(*answered[i - first]);
        else append_answer(sql::Datum(!answered[i - first]->empty()));
      } catch (const sql::SqlError& error) {
        if (row == 0 || error.sqlstate() == sqlstate::kQueryCanceled) throw;
        pending_ = std::current_exception();
      }
      if (!pending_) continue;
      numbers.resize(row);
      break;
    }
    sql::Batch answers = answers_.gather(numbers);
    co_return answers.columns[0];
  }

  /// Appends the answer for one row. An error ends the rows: those before it come first.
  asio::awaitable<void> ask(const sql::Batch& batch, std::size_t row) {
    switch (plan_.kind) {
      case ApplyKind::kScalar:
        co_await ask_value(row);
        break;
      case ApplyKind::kExists:
        co_await ask_existence(row);
        break;
      case ApplyKind::kIn:
        co_await ask_quantified(batch, row);
        break;
      case ApplyKind::kLateral:
        break;
    }
  }

  asio::awaitable<void> ask_value(std::size_t row) {
    OperatorPtr run = subquery_.open(row);
    std::optional<sql::Batch> rows = co_await run->next();
    if (!rows) {
      subquery_.close(std::move(run));
      answers_.append_nulls();
      co_return;
    }
    std::optional<sql::Batch> more;
    if (rows->rows == 1) more = co_await run->next();
    if (rows->rows > 1 || more) {
      throw sql::SqlError(sqlstate::kCardinalityViolation, "more than one row returned by a subquery used as an expression");
    }
    subquery_.close(std::move(run));
    const RowNumber only = 0;
    answers_.append({rows->columns.data(), 1}, {&only, 1});
  }

  void append_value(const CorrelatedSubquery::Rows& rows) {
    const RowNumber only = 0;
    if (rows.empty()) answers_.append_nulls();
    else answers_.append({rows[0].columns.data(), 1}, {&only, 1});
  }

  asio::awaitable<void> ask_existence(std::size_t row) {
    OperatorPtr run = subquery_.open(row);
    const std::optional<sql::Batch> rows = co_await run->next();
    if (!rows) subquery_.close(std::move(run));
    append_answer(sql::Datum(rows.has_value()));
  }

  asio::awaitable<void> ask_quantified(const sql::Batch& batch, std::size_t row) {
    QuantifiedTest test(plan_.all);
    if (has_rows_) {
      for (const sql::Batch& rows : rows_) {
        if (turn_.is_over()) co_await turn_.yield();
        compare(batch, row, rows, test);
        if (test.is_decided()) break;
      }
    } else {
      OperatorPtr run = subquery_.open(row);
      while (!test.is_decided()) {
        std::optional<sql::Batch> rows = co_await run->next();
        if (!rows) break;
        compare(batch, row, *rows, test);
        if (turn_.is_over()) co_await turn_.yield();
      }
    }
    append_answer(test.result());
  }

  /// One row of the input, as constants, with each of the subquery's rows.
  void compare(const sql::Batch& batch, std::size_t row, const sql::Batch& rows, QuantifiedTest& test) {
    const std::size_t width = plan_.input->columns.size();
    sql::Batch joined;
    joined.rows = rows.rows;
    joined.columns.resize(width);
    for (const std::uint32_t column : compared_) {
      if (column >= width) break;
      const sql::Column& source = *batch.columns[column];
      joined.columns[column] =
          std::make_shared<const sql::Column>(sql::Column::constant(source.type(), source.datum(row), rows.rows));
    }
    joined.columns.insert(joined.columns.end(), rows.columns.begin(), rows.columns.end());
    test.add(*sql::evaluate(*plan_.comparison, joined, context_.evaluation()));
  }

  /// The rows of an uncorrelated subquery that is compared with many rows.
  asio::awaitable<void> read_rows() {
    has_rows_ = true;
    const std::size_t width = plan_.input->columns.size();
    std::vector<std::uint32_t> compared;
    for (const std::uint32_t column : compared_) {
      if (column >= width) compared.push_back(column - static_cast<std::uint32_t>(width));
    }
    std::size_t bytes = 0;
    OperatorPtr run = subquery_.open(0);
    while (true) {
      std::optional<sql::Batch> batch = co_await run->next();
      if (!batch) break;
      if (set_) {
        set_->add(*batch, context_.evaluation());
        limit_.check(set_->memory());
      } else {
        rows_.push_back(with_decoded(*batch, compared));
        bytes += rows_.back().memory();
        limit_.check(bytes);
      }
      if (turn_.is_over()) co_await turn_.yield();
    }
  }

  void append_answer(const sql::Datum& value) {
    const sql::ColumnPtr column = std::make_shared<const sql::Column>(sql::Column::constant(sql::kBool, value, 1));
    const RowNumber only = 0;
    answers_.append({&column, 1}, {&only, 1});
  }

  /// The part of work_mem that answers may fill before they are forgotten.
  static constexpr std::size_t kMemoShare = 8;

  const planner::PhysicalApply& plan_;
  OperatorPtr input_;
  ExecutionContext& context_;
  CorrelatedSubquery subquery_;
  std::vector<std::uint32_t> deciding_, compared_;
  bool remembers_ = false;
  KeyTable memo_;
  RowStore answers_;  // by number of the memo's key
  MemoryLimit limit_;
  std::exception_ptr pending_;  // of the row behind those that were returned
  EventLoopTurn turn_;

  bool has_rows_ = false;           // an uncorrelated subquery has been read: into
  std::optional<SubquerySet> set_;  // this, where it is compared by equality,
  std::vector<sql::Batch> rows_;    // or else these
};

}  // namespace

OperatorPtr make_apply(const planner::PhysicalNode& node, const planner::PhysicalApply& plan,
                       ExecutionContext& context) {
  if (plan.kind == ApplyKind::kLateral) return make_lateral(node, plan, context);
  return std::make_unique<ApplyOperator>(node, plan, context);
}

}  // namespace redquel::executor
