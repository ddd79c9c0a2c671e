#include "executor/tables/changed_rows.h"

#include "executor/tables/key_values.h"
#include "executor/transaction/row_buffer.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

/// First the source, then the transaction's rows.
class ChangedRowsOperator : public Operator {
 public:
  ChangedRowsOperator(OperatorPtr source, const planner::TableRead& read, ExecutionContext& context, TableChangesPtr changes)
      : context_(context), changes_(std::move(changes)), source_(std::move(source)), read_(read) {}

  asio::awaitable<std::optional<sql::Batch>> next() final {
    if (source_) {
      auto batch = co_await source_->next();
      if (batch) co_return batch;
      source_.reset();
      rows_ = chosen();
    }
    while (position_ < rows_.size()) {
      sql::Batch batch = take();
      if (batch.rows > 0) co_return batch;
    }
    co_return std::nullopt;
  }

 protected:
  virtual std::vector<const BufferedRow*> chosen() {
    std::vector<const BufferedRow*> rows;
    for (const auto& [member, row] : changes_->rows) rows.push_back(&row);
    return rows;
  }

  ExecutionContext& context_;
  TableChangesPtr changes_;

 private:
  /// The next rows as the read gives them.
  sql::Batch take() {
    const sql::TableDef& table = *read_.table;
    sql::Batch batch;
    std::vector<const std::vector<sql::Datum>*> rows;
    for (; position_ < rows_.size() && rows.size() < sql::kBatchRows; ++position_) {
      if (rows_[position_]->current) rows.push_back(rows_[position_]->current.get());
    }
    batch.rows = rows.size();
    for (std::int16_t number : read_.numbers) {
      const std::size_t position = number == 0 ? table.columns.size() : table.position(number);
      auto column = std::make_shared<sql::Column>(number == 0 ? sql::kInt8 : table.columns[position].type);
      for (const auto* row : rows) column->append_datum((*row)[position]);
      batch.columns.push_back(std::move(column));
    }
    if (!read_.condition || batch.rows == 0) return batch;
    std::vector<std::uint32_t> selected = sql::select_rows(*read_.condition, batch, context_.evaluation());
    return selected.size() == batch.rows ? batch : batch.gather(selected);
  }

  OperatorPtr source_;
  const planner::TableRead& read_;
  std::vector<const BufferedRow*> rows_;
  std::size_t position_ = 0;
};

class ChangedRowsByKey final : public ChangedRowsOperator {
 public:
  ChangedRowsByKey(OperatorPtr source, const planner::KeyLookup& lookup, ExecutionContext& context, TableChangesPtr changes)
      : ChangedRowsOperator(std::move(source), lookup.read, context, std::move(changes)), lookup_(lookup) {}

 private:
  std::vector<const BufferedRow*> chosen() override {
    const sql::TableDef& table = *lookup_.read.table;
    const sql::TableKeys keys(table);
    std::set<std::string> seen;  // IN (1, 1) gives one row
    std::vector<const BufferedRow*> rows;
    for (const auto& values : lookup_.keys) {
      auto key = evaluate_key(table, table.primary_key, values, context_.evaluation());
      if (!key) continue;
      const auto found = changes_->rows.find(keys.member(*key));
      if (found != changes_->rows.end() && seen.insert(found->first).second) rows.push_back(&found->second);
    }
    return rows;
  }

  const planner::KeyLookup& lookup_;
};

}  // namespace

OperatorPtr with_changed_rows(OperatorPtr source, const planner::TableRead& read, ExecutionContext& context) {
  TableChangesPtr changes = context.changes(read.table->oid);
  if (!changes) return source;
  return std::make_unique<ChangedRowsOperator>(std::move(source), read, context, std::move(changes));
}

OperatorPtr with_changed_rows(OperatorPtr source, const planner::KeyLookup& lookup, ExecutionContext& context) {
  TableChangesPtr changes = context.changes(lookup.read.table->oid);
  if (!changes) return source;
  return std::make_unique<ChangedRowsByKey>(std::move(source), lookup, context, std::move(changes));
}

}  // namespace redquel::executor
