// INSERT, UPDATE and DELETE of views with triggers INSTEAD OF: the triggers take each row, and nothing else is written.

#include "executor/operators/sequence_evaluation.h"
#include "executor/operators/spill_file.h"
#include "executor/runtime/computation.h"
#include "executor/storage/constraint_errors.h"
#include "executor/writes/returned_rows.h"
#include "executor/writes/statement_triggers.h"
#include "executor/writes/write_operator.h"
#include "executor/writes/writes.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

using Row = std::vector<sql::Datum>;
using Event = sql::TriggerDef::Event;

namespace {

/// Rows of the source that wait in memory until it is read to its end. More of them wait in a file.
constexpr std::size_t kRowsInMemory = 10'000;

class ViewWriteOperator final : public Operator {
 public:
  ViewWriteOperator(const planner::PhysicalViewWrite& write, ExecutionContext& context, OperatorPtr source)
      : write_(write), context_(context), copies_(source != nullptr), streams_(source || planner::tables_of(write.source).empty()) {
    source_ = source ? std::move(source) : context.make_operator(*write.source);
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!is_done_) {
      is_done_ = true;
      co_await run();
    }
    co_return returned_.next();
  }

 private:
  asio::awaitable<void> run() {
    std::vector<planner::WriteEvent> events{{write_.event, write_.assigned}};
    co_await context_.triggers->begin(write_.view, std::move(events));
    std::vector<sql::Batch> waiting;
    std::optional<SpilledRows> spilled;
    std::size_t rows = 0;
    while (std::optional<sql::Batch> batch = co_await source_->next()) {
      if (streams_) {
        co_await take(*batch);
        continue;
      }
      rows += batch->rows;
      if (rows > kRowsInMemory && !spilled) {
        std::vector<sql::Type> types;
        for (const sql::ColumnPtr& column : batch->columns) types.push_back(column->type());
        spilled.emplace(std::make_shared<SpillFile>(context_.temporary_space), types);
      }
      if (spilled) spilled->append_all(*batch);
      else waiting.push_back(*std::move(batch));
    }
    source_.reset();
    for (const sql::Batch& batch : waiting) co_await take(batch);
    if (!spilled) co_return;
    spilled->finish();
    while (std::optional<sql::Batch> batch = spilled->next()) co_await take(*batch);
  }

  /// Gives rows of the source to the triggers.
  asio::awaitable<void> take(const sql::Batch& source) {
    const std::size_t width = write_.view->columns.size();
    std::vector<Row> new_rows, old_rows = rows_of(source, write_.old_row);
    if (!write_.new_row.empty()) new_rows = co_await new_rows_of(source);
    std::vector<std::shared_ptr<sql::Column>> columns;
    for (const sql::ColumnDef& column : write_.view->columns) columns.push_back(std::make_shared<sql::Column>(column.type));
    std::vector<std::uint32_t> kept;
    for (std::size_t i = 0; i < source.rows; ++i) {
      RowChange change{.event = write_.event};
      if (write_.event != Event::kInsert) change.old_row = std::move(old_rows[i]);
      if (write_.event != Event::kDelete) change.new_row = std::move(new_rows[i]);
      const bool is_taken = co_await context_.triggers->before(write_.view, change, nullptr);
      if (is_taken || copies_) ++context_.affected_rows;
      if (!is_taken) continue;
      kept.push_back(static_cast<std::uint32_t>(i));
      for (std::size_t column = 0; change.new_row && column < width; ++column) columns[column]->append_datum((*change.new_row)[column]);
      if (change.new_row) new_rows[i] = *std::move(change.new_row);
    }
    if (kept.empty()) co_return;
    sql::Batch batch{.rows = kept.size(), .columns = {}};
    if (write_.event != Event::kDelete) batch.columns.assign(columns.begin(), columns.end());
    const sql::Batch taken = source.gather(kept);
    batch.columns.insert(batch.columns.end(), taken.columns.begin(), taken.columns.end());
    check(batch, kept, new_rows);
    if (!write_.has_returning) co_return;
    sql::Batch result{.rows = batch.rows, .columns = {}};
    for (const sql::ExpressionPtr& value : write_.returning) result.columns.push_back(sql::evaluate_for_output(*value, batch, context_.evaluation()));
    returned_.push_back(std::move(result));
  }

  asio::awaitable<std::vector<Row>> new_rows_of(const sql::Batch& source) {
    sql::Batch made{.rows = source.rows, .columns = {}};
    std::vector<std::size_t> positions;
    for (const sql::ExpressionPtr& value : write_.new_row) {
      positions.push_back(made.columns.size());
      if (calls_sequences({&value, 1})) {
        const std::vector<sql::ColumnPtr> evaluated = co_await evaluate_with_sequences({&value, 1}, source, context_);
        made.columns.push_back(evaluated[0]);
        continue;
      }
      auto compute = [&] { return sql::evaluate(*value, source, context_.evaluation()); };
      sql::ColumnPtr column;
      if (may_take_long({&value, 1})) column = co_await compute_in_turns(std::move(compute));
      else column = compute();
      made.columns.push_back(std::move(column));
    }
    co_return rows_of(made, positions);
  }

  /// WITH CHECK OPTION of views above, over the rows as the triggers have left them.
  void check(const sql::Batch& batch, const std::vector<std::uint32_t>& kept, const std::vector<Row>& new_rows) const {
    for (const planner::BoundCheck& condition : write_.checks) {
      const sql::ColumnPtr result = sql::evaluate(*condition.condition, batch, context_.evaluation());
      for (std::size_t i = 0; i < kept.size(); ++i) {
        if (!result->is_null(i) && result->get<bool>(i)) continue;
        throw check_option_violation(*write_.view, condition.view, new_rows[kept[i]], *context_.evaluation().settings);
      }
    }
  }

  const planner::PhysicalViewWrite& write_;
  ExecutionContext& context_;
  const bool copies_;   // COPY, which counts rows that triggers skip, too
  const bool streams_;  // the source reads no table that triggers may change
  OperatorPtr source_;
  ReturnedRows returned_{context_.temporary_space};
  bool is_done_ = false;
};

}  // namespace

OperatorPtr make_view_write(const planner::PhysicalViewWrite& write, ExecutionContext& context, OperatorPtr source) {
  return std::make_unique<ViewWriteOperator>(write, context, std::move(source));
}

}  // namespace redquel::executor
