#include "executor/replication/slot_rows.h"

#include "executor/replication/slots.h"
#include "sql/system_tables.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/types/server_numbers.h"

namespace redquel::executor {

asio::awaitable<sql::Batch> replication_slot_rows(RedisClient& client, std::string database) {
  SlotStore slots(client);
  const std::vector<ReplicationSlot> all = co_await slots.list();
  sql::RowWriter out(*sql::find_system_table("pg_catalog", "pg_replication_slots"));
  for (const ReplicationSlot& slot : all) {
    const std::string holder = co_await slots.holder(slot.name);
    std::optional<std::int64_t> process;
    if (!holder.empty()) process = std::stoll(holder);
    const std::int64_t confirmed = sql::from_unsigned_bits(slot.confirmed);
    out.add(slot.name, "pgoutput", "logical", sql::database_oid(database), database, false, process.has_value(), process, sql::kNull, sql::kNull,
            confirmed, confirmed, "reserved", sql::kNull, false);
  }
  co_return out.finish();
}

}  // namespace redquel::executor
