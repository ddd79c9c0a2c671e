// The triggers of a write: BEFORE … FOR EACH ROW, and the notes for AFTER.

#include "executor/writes/write_operator.h"

namespace redquel::executor {

using Row = std::vector<sql::Datum>;
using Event = sql::TriggerDef::Event;

bool WriteOperator::has_before(Event event) const { return triggers_ && triggers_->has_before(table_, event); }

asio::awaitable<void> WriteOperator::show_collected() {
  if (mapped_ || actions_ || unit_.empty()) co_return;
  co_await put_aside();
  if (!chunks_.empty()) co_await write_chunks();
}

asio::awaitable<std::vector<std::uint32_t>> WriteOperator::fire_before(Event event, sql::Batch& new_rows, const std::vector<Row>& old_rows) {
  const std::size_t width = table_->columns.size();
  std::vector<std::size_t> positions(width);
  for (std::size_t i = 0; i < width; ++i) positions[i] = i;
  std::vector<Row> rows = rows_of(new_rows, positions);
  std::vector<std::shared_ptr<sql::Column>> columns;
  for (const sql::ColumnDef& column : table_->columns) columns.push_back(std::make_shared<sql::Column>(column.type));
  std::vector<std::uint32_t> kept;
  const StatementTriggers::Flush flush = [this] { return show_collected(); };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowChange change{.event = event};
    change.new_row = std::move(rows[i]);
    if (!old_rows.empty()) change.old_row = Row(old_rows[i].begin(), old_rows[i].begin() + static_cast<std::ptrdiff_t>(width));
    const bool stays = co_await triggers_->before(table_, change, flush);
    if (!stays) continue;
    kept.push_back(static_cast<std::uint32_t>(i));
    for (std::size_t column = 0; column < width; ++column) columns[column]->append_datum((*change.new_row)[column]);
  }
  new_rows = new_rows.gather(kept);
  for (std::size_t column = 0; column < width; ++column) new_rows.columns[column] = std::move(columns[column]);
  co_return kept;
}

asio::awaitable<std::vector<std::uint32_t>> WriteOperator::fire_before_delete(const std::vector<Row>& old_rows) {
  std::vector<std::uint32_t> kept;
  const StatementTriggers::Flush flush = [this] { return show_collected(); };
  for (std::size_t i = 0; i < old_rows.size(); ++i) {
    RowChange change{.event = Event::kDelete};
    change.old_row = Row(old_rows[i].begin(), old_rows[i].begin() + static_cast<std::ptrdiff_t>(table_->columns.size()));
    const bool goes = co_await triggers_->before(table_, change, flush);
    if (goes) kept.push_back(static_cast<std::uint32_t>(i));
  }
  co_return kept;
}

void WriteOperator::note_inserted(std::span<const sql::Datum> new_row) {
  if (triggers_) triggers_->note(table_, Event::kInsert, {}, new_row);
}

}  // namespace redquel::executor
