#include <algorithm>
#include <iterator>
#include <utility>

#include "executor/operators/sequence_evaluation.h"
#include "executor/storage/sequences.h"
#include "executor/writes/write_operator.h"
#include "executor/writes/writes.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Row = std::vector<sql::Datum>;
using RowNumbers = std::vector<std::uint32_t>;
using Event = sql::TriggerDef::Event;

/// MERGE. The source has joined the rows to merge with those that are there; each goes to the first WHEN that fits it.
class MergeOperator final : public WriteOperator {
 public:
  MergeOperator(const planner::PhysicalNode& node, const planner::PhysicalMerge& merge, ExecutionContext& context)
      : WriteOperator(node, merge.table, merge.source, context), merge_(merge), table_(*merge.table) {
    // A row that is there has its key: the primary key's first column, or the hidden one.
    presence_ = merge.old_row[table_.has_hidden_key() ? table_.columns.size() : table_.position(table_.primary_key[0])];
    for (std::size_t i = 0; i < table_.columns.size(); ++i) columns_.push_back(i);
    note_read_columns(merge.old_row);
    recheck_rows(merge.recheck, merge.old_row);
    may_pass_on_references();
  }

 private:
  asio::awaitable<void> collect(const sql::Batch& source) override {
    RowNumbers open[2];  // not matched, matched: rows that no WHEN has taken yet
    for (std::uint32_t i = 0; i < source.rows; ++i) open[source.columns[presence_]->is_null(i) ? 0 : 1].push_back(i);
    for (const planner::MergeAction& action : merge_.actions) {
      const RowNumbers taken = take(action, source, open[action.matched ? 1 : 0]);
      if (taken.empty()) continue;
      const sql::Batch batch = source.gather(taken);
      check_existing(table_, action.policy_checks, batch);
      switch (action.kind) {
        case planner::MergeAction::Kind::kNothing:
          continue;
        case planner::MergeAction::Kind::kInsert:
          co_await insert(action, batch);
          break;
        case planner::MergeAction::Kind::kUpdate:
          co_await update(action, batch);
          break;
        case planner::MergeAction::Kind::kDelete:
          co_await remove(batch);
          break;
      }
    }
  }

  /// The rows that fit the WHEN; they are not open any more.
  RowNumbers take(const planner::MergeAction& action, const sql::Batch& source, RowNumbers& open) const {
    if (!action.condition || open.empty()) return std::exchange(open, {});
    RowNumbers taken;
    for (std::uint32_t row : sql::select_rows(*action.condition, source.gather(open), context_.evaluation())) taken.push_back(open[row]);
    RowNumbers left;
    std::ranges::set_difference(open, taken, std::back_inserter(left));
    open = std::move(left);
    return taken;
  }

  asio::awaitable<void> insert(const planner::MergeAction& action, sql::Batch source) {
    sql::Batch batch{.rows = source.rows, .columns = {}};
    for (const planner::InsertColumn& column : action.columns) {
      std::vector<sql::ColumnPtr> values = co_await evaluate_with_sequences({&column.value, 1}, source, context_);
      batch.columns.push_back(std::move(values[0]));
    }
    if (has_before(Event::kInsert)) {
      const RowNumbers kept = co_await fire_before(Event::kInsert, batch, {});
      if (kept.empty()) co_return;
      source = source.gather(kept);
    }
    compute_generated(table_, merge_.generated, batch);
    std::vector<Row> rows = rows_of(batch, columns_);
    check_rows(table_, merge_.checks, batch, rows, action.policy_checks, source);
    if (table_.has_hidden_key()) {
      const std::vector<std::int64_t> keys = co_await allocate_keys_of(context_.redis(), table_, rows, counters());
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].emplace_back(keys[i]);
    }
    for (const Row& row : rows) {
      insert_row(row);
      note_inserted(row);
    }
    written_.inserted += rows.size();
  }

  asio::awaitable<void> remove(const sql::Batch& source) {
    std::vector<Row> rows = rows_of(source, merge_.old_row);
    if (has_before(Event::kDelete)) {
      const RowNumbers kept = co_await fire_before_delete(rows);
      if (kept.empty()) co_return;
      rows = rows_of(source.gather(kept), merge_.old_row);
    }
    for (const Row& row : rows) {
      if (!delete_row(row)) throw second_time();
    }
    written_.deleted += rows.size();
  }

  asio::awaitable<void> update(const planner::MergeAction& action, sql::Batch source) {
    sql::Batch batch{.rows = source.rows, .columns = {}};
    for (const std::size_t column : columns_) batch.columns.push_back(old_column(source, merge_.old_row[column], table_.columns[column].type));
    for (const planner::Assignment& assignment : action.assignments) {
      std::vector<sql::ColumnPtr> values = co_await evaluate_with_sequences({&assignment.value, 1}, source, context_);
      batch.columns[table_.position(assignment.number)] = std::move(values[0]);
    }
    if (has_before(Event::kUpdate)) {
      const RowNumbers kept = co_await fire_before(Event::kUpdate, batch, rows_of(source, merge_.old_row));
      if (kept.empty()) co_return;
      source = source.gather(kept);
    }
    compute_generated(table_, merge_.generated, batch);
    const std::vector<Row> old_rows = rows_of(source, merge_.old_row);
    std::vector<Row> rows = rows_of(batch, columns_);
    check_rows(table_, merge_.checks, batch, rows, action.policy_checks, source);
    co_await give_hidden_keys(old_rows, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!update_row(old_rows[i], rows[i])) throw second_time();
    }
    written_.updated += rows.size();
  }

  static sql::SqlError second_time() {
    return sql::SqlError(sqlstate::kCardinalityViolation, "MERGE command cannot affect row a second time")
        .hint("Ensure that not more than one source row matches any one target row.");
  }

  Finish take_collected() override {
    return [this, written = std::exchange(written_, {})](const WriteUnit&) { context_.count_written(table_, written); };
  }

  const planner::PhysicalMerge& merge_;
  const sql::TableDef& table_;
  std::size_t presence_;              // in the source: NULL where no row is matched
  std::vector<std::size_t> columns_;  // 0, 1, …
  ExecutionContext::WrittenRows written_;
};

}  // namespace

OperatorPtr make_merge(const planner::PhysicalNode& node, const planner::PhysicalMerge& merge, ExecutionContext& context) {
  return std::make_unique<MergeOperator>(node, merge, context);
}

}  // namespace redquel::executor
