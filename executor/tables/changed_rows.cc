#include "executor/tables/changed_rows.h"

#include <set>
#include <string>

#include "executor/runtime/event_loop_turn.h"
#include "executor/storage/row_buffer.h"
#include "executor/tables/key_values.h"
#include "sql/catalog/spread_table.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

/// First the source, then the transaction's rows.
class ChangedRowsOperator : public Operator {
 public:
  ChangedRowsOperator(OperatorPtr source, const planner::TableRead& read, ExecutionContext& context, TableChangesPtr changes)
      : context_(context), changes_(std::move(changes)), source_(std::move(source)), read_(read), walk_(*changes_) {}

  asio::awaitable<std::optional<sql::Batch>> next() final {
    if (source_) {
      auto batch = co_await source_->next();
      if (batch) co_return batch;
      source_.reset();
    }
    while (!is_over_) {
      sql::Batch batch = take();
      if (batch.rows > 0) co_return batch;
      if (turn_.is_over()) co_await turn_.yield();
    }
    co_return std::nullopt;
  }

 protected:
  /// The next of the transaction's rows that may be meant; null at the end.
  virtual ChangeLog::VersionPtr next_changed() { return walk_.next(); }

  ExecutionContext& context_;
  TableChangesPtr changes_;

 private:
  /// The next rows as the read gives them.
  sql::Batch take() {
    const sql::TableDef& table = *read_.table;
    sql::Batch batch;
    std::vector<RowValues> rows;
    while (rows.size() < sql::kBatchRows) {
      const ChangeLog::VersionPtr changed = next_changed();
      is_over_ = changed == nullptr;
      if (is_over_) break;
      if (changed->row.current) rows.push_back(changed->row.current);
    }
    batch.rows = rows.size();
    for (std::int16_t number : read_.numbers) {
      const std::size_t position = number == 0 ? table.columns.size() : table.position(number);
      auto column = std::make_shared<sql::Column>(number == 0 ? sql::kInt8 : table.columns[position].type);
      for (const RowValues& row : rows) column->append_datum((*row)[position]);
      batch.columns.push_back(std::move(column));
    }
    if (!read_.condition || batch.rows == 0) return batch;
    std::vector<std::uint32_t> selected = sql::select_rows(*read_.condition, batch, context_.evaluation());
    return selected.size() == batch.rows ? batch : batch.gather(selected);
  }

  OperatorPtr source_;
  const planner::TableRead& read_;
  TableChanges::Walk walk_;
  EventLoopTurn turn_;
  bool is_over_ = false;
};

class ChangedRowsByKey final : public ChangedRowsOperator {
 public:
  ChangedRowsByKey(OperatorPtr source, const planner::KeyLookup& lookup, ExecutionContext& context, TableChangesPtr changes)
      : ChangedRowsOperator(std::move(source), lookup.read, context, std::move(changes)), lookup_(lookup), keys_(*lookup.read.table) {}

 private:
  ChangeLog::VersionPtr next_changed() override {
    const sql::TableDef& table = *lookup_.read.table;
    while (position_ < lookup_.keys.size()) {
      auto key = evaluate_key(table, table.primary_key, lookup_.keys[position_++], context_.evaluation());
      if (!key) continue;
      ChangeLog::VersionPtr found = changes_->find(keys_.member(*key));
      if (found && seen_.insert(found->member).second) return found;
    }
    return nullptr;
  }

  const planner::KeyLookup& lookup_;
  const sql::TableKeys keys_;
  std::size_t position_ = 0;
  std::set<std::string> seen_;  // IN (1, 1) gives one row
};

}  // namespace

OperatorPtr with_changed_rows(OperatorPtr source, const planner::TableRead& read, ExecutionContext& context) {
  for (const auto& stored : sql::stored_tables(read.table)) {
    TableChangesPtr changes = context.changes(stored->oid);
    if (changes) source = std::make_unique<ChangedRowsOperator>(std::move(source), read, context, std::move(changes));
  }
  return source;
}

OperatorPtr with_changed_rows(OperatorPtr source, const planner::KeyLookup& lookup, ExecutionContext& context) {
  TableChangesPtr changes = context.changes(lookup.read.table->oid);
  if (!changes) return source;
  return std::make_unique<ChangedRowsByKey>(std::move(source), lookup, context, std::move(changes));
}

}  // namespace redquel::executor
