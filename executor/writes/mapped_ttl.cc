#include "executor/writes/mapped_ttl.h"

#include "executor/storage/row_buffer.h"
#include "executor/tables/mapped_reader.h"
#include "executor/transaction/transaction.h"

namespace redquel::executor {

asio::awaitable<void> add_times_to_live(MappedUnit& unit, ExecutionContext& context, ExecutionCounters* counters) {
  const sql::TableDef& table = unit.table();
  const RowBuffer& buffer = context.transaction()->buffer();
  planner::TableRead read;
  read.table = std::make_shared<const sql::TableDef>(table);
  read.numbers = {sql::kTtlColumn};
  std::optional<MappedReader> reader;
  if (sql::has_one_row(table.mapping().layout)) reader.emplace(read, context);
  for (std::size_t i = 0; i < unit.changes().size(); ++i) {
    const MappedChange& change = unit.changes()[i];
    if (!change.before) continue;
    const std::optional<BufferedRow> known = buffer.find(table.oid, mapped_identity(table, *change.before));
    if (known && known->current) {
      unit.set_unread(i, table.position(sql::kTtlColumn), (*known->current)[table.position(sql::kTtlColumn)]);
    } else if (reader) {
      MappedTarget target{{}, i};
      for (const std::int16_t slot : table.primary_key) target.values[slot] = (*change.before)[table.position(slot)];
      reader->add(std::move(target));
    }
  }
  if (!reader) co_return;
  while (!reader->is_idle()) co_await reader->step(counters);
  std::vector<std::size_t> numbers;
  const sql::Batch found = reader->take_all(numbers);
  for (std::size_t row = 0; row < found.rows; ++row) {
    const sql::Column& column = *found.columns[0];
    unit.set_unread(numbers[row], table.position(sql::kTtlColumn), column.is_null(row) ? sql::Datum() : column.datum(row));
  }
}

}  // namespace redquel::executor
