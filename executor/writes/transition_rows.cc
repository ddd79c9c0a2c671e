#include "executor/writes/transition_rows.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kBatchRows = 1000;

}  // namespace

TransitionRows::TransitionRows(std::shared_ptr<const sql::TableDef> table, bool old_rows, bool new_rows, const ExecutionContext& context)
    : table_(std::move(table)), limit_(context, "transition table") {
  if (old_rows) begin(old_);
  if (new_rows) begin(new_);
}

void TransitionRows::add(std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row) {
  if (!old_row.empty()) add(old_, old_row, tables_->old_rows);
  if (!new_row.empty()) add(new_, new_row, tables_->new_rows);
}

std::shared_ptr<const TransitionTables> TransitionRows::tables() {
  close(old_, tables_->old_rows);
  close(new_, tables_->new_rows);
  return tables_;
}

void TransitionRows::begin(Open& open) const {
  open.columns.clear();
  open.rows = 0;
  for (const sql::ColumnDef& column : table_->columns) open.columns.push_back(std::make_shared<sql::Column>(column.type));
}

void TransitionRows::add(Open& open, std::span<const sql::Datum> row, std::vector<sql::Batch>& batches) {
  if (open.columns.empty()) return;
  for (std::size_t i = 0; i < open.columns.size(); ++i) open.columns[i]->append_datum(row[i]);
  if (++open.rows == kBatchRows) close(open, batches);
}

void TransitionRows::close(Open& open, std::vector<sql::Batch>& batches) {
  if (open.rows == 0) return;
  batches.push_back({.rows = open.rows, .columns = {open.columns.begin(), open.columns.end()}});
  bytes_ += batches.back().memory();
  limit_.check(bytes_);
  begin(open);
}

}  // namespace redquel::executor
