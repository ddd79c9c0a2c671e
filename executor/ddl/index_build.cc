#include "executor/ddl/catalog_change.h"
#include "executor/ddl/index_build.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "executor/ddl/object_lookup.h"
#include "executor/runtime/lease_keeper.h"
#include "executor/storage/table_walk.h"
#include "executor/storage/write_unit.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"
#include "sql/progress.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

const sql::IndexDef* find_by_oid(const sql::TableDef& table, sql::Oid oid) {
  for (const sql::IndexDef& index : table.indexes) {
    if (index.oid == oid) return &index;
  }
  return nullptr;
}

/// Returns the structures that the index needs and no other index has complete.
std::vector<sql::Structure> missing_structures(const sql::TableDef& table, const sql::IndexDef& index) {
  std::vector<sql::Structure> missing;
  const std::vector<sql::Structure> all = sql::structures_of(table);
  for (const sql::Structure& structure : sql::structures_of(table, index)) {
    const auto found = std::find(all.begin(), all.end(), structure);
    if (found == all.end() || !found->readable) missing.push_back(structure);
  }
  return missing;
}

/// About ten milliseconds of Redis.
constexpr std::size_t kRowsPerScript = 1000;

SqlError vanished() { return SqlError(sqlstate::kSerializationFailure, "could not build the index due to concurrent changes of its table"); }

/// Takes the lease again, which the commit of the definition has taken, and lets the thread's keeper renew it.
asio::awaitable<std::unique_ptr<KeptLease>> keep_lease(RedisClient& client, int database, sql::Oid index) {
  CommandBatch renewal;
  renewal.add("SET", building_key(index), "1", "PX", kBuildLeaseMilliseconds);
  CommandBatch batch = renewal;
  const RepliesPtr replies = co_await client.execute(std::move(batch));
  replies->or_throw();
  if (lease_keeper() == nullptr) co_return nullptr;
  LeaseTerms terms{.database = database, .length = std::chrono::milliseconds(kBuildLeaseMilliseconds), .key = building_key(index),
                   .renewal = std::move(renewal), .scripts = {}, .is_renewed = [](const Replies&) { return true; }};
  co_return lease_keeper()->keep(std::move(terms));
}

asio::awaitable<TablePtr> current_table(RedisClient& client, sql::Oid oid) {
  LoadedCatalog loaded = co_await load_catalog(client);
  TablePtr table = loaded.snapshot->find_table(oid);
  if (!table) throw vanished();
  co_return table;
}

asio::awaitable<std::uint64_t> count_rows(RedisClient& client, const sql::TableDef& table) {
  CommandBatch batch;
  if (table.parts.empty()) batch.add("ZCARD", sql::TableKeys(table).all_rows());
  for (const auto& part : table.parts) batch.add("ZCARD", sql::TableKeys(*part).all_rows());
  const RepliesPtr replies = co_await client.execute(std::move(batch));
  std::uint64_t rows = 0;
  for (std::size_t index = 0; index < replies->size(); ++index) rows += static_cast<std::uint64_t>(replies->integer(index));
  co_return rows;
}

asio::awaitable<void> fill(DdlContext& context, TablePtr table, sql::Oid oid) {
  const sql::IndexDef* const built = find_by_oid(*table, oid);
  const bool is_rebuilt = built != nullptr && built->rebuilding;
  sql::ProgressReport progress(context.session.progress.get(), is_rebuilt ? sql::LongWork::kReindex : sql::LongWork::kCreateIndex, table->oid, oid);
  progress.set_all_rows(co_await count_rows(context.redis, *table));
  TableWalk walk(std::move(table), kRowsPerScript);
  const std::unique_ptr<KeptLease> lease = co_await keep_lease(context.redis, context.database, oid);
  while (true) {
    std::optional<sql::Batch> page = co_await walk.next_of_many(context.bulk);
    if (!page) break;
    const sql::IndexDef* index = find_by_oid(*walk.table(), oid);
    if (index == nullptr) throw vanished();
    const std::vector<sql::Structure> structures = missing_structures(*walk.table(), *index);
    WriteOptions options;
    options.settings = context.session.settings;
    WriteUnit unit(std::move(options));
    for (const auto& row : decode_rows(*page)) unit.index_row(walk.table(), structures, row, index->name);
    const WriteStatus status = co_await unit.execute(context.bulk);
    if (status == WriteStatus::kApplied) {
      progress.add_rows(page->rows);
      continue;
    }
    walk.repeat();
    if (status == WriteStatus::kStale) walk.rebase(co_await current_table(context.redis, walk.table()->oid));
  }
}

}  // namespace

asio::awaitable<void> build_indexes(DdlContext& context, sql::Oid table_oid, std::vector<sql::Oid> indexes) {
  for (sql::Oid oid : indexes) {
    TablePtr table = co_await current_table(context.redis, table_oid);
    co_await fill(context, std::move(table), oid);
  }
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr table = draft.catalog().find_table(table_oid);
    if (!table) throw vanished();
    sql::TableDef changed = *table;
    for (sql::IndexDef& index : changed.indexes) {
      const bool is_built = std::find(indexes.begin(), indexes.end(), index.oid) != indexes.end();
      if (is_built && index.state == sql::IndexState::kBuilding) index.state = sql::IndexState::kReady;
      if (is_built) index.rebuilding = false;
    }
    for (sql::Oid oid : indexes) draft.delete_key(building_key(oid));
    draft.put(std::move(changed));
  };
  co_await change_catalog(context, make);
}

asio::awaitable<void> drop_indexes(DdlContext& context, sql::Oid table_oid, std::vector<sql::Oid> indexes) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr table = draft.catalog().find_table(table_oid);
    if (!table) return;
    sql::TableDef changed = *table;
    const auto is_dropped = [&](const sql::IndexDef& index) {
      return std::find(indexes.begin(), indexes.end(), index.oid) != indexes.end();
    };
    if (std::erase_if(changed.indexes, is_dropped) == 0) return;
    std::erase_if(changed.foreign_keys, [&](const sql::ForeignKeyDef& key) {
      return std::find(indexes.begin(), indexes.end(), key.index) != indexes.end();
    });
    for (sql::Oid oid : indexes) draft.delete_key(building_key(oid));
    draft.remove_unused_structures(*table, changed);
    draft.put(std::move(changed));
  };
  co_await change_catalog(context, make);
}

asio::awaitable<void> restore_definition(DdlContext& context, TablePtr before) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr now = draft.catalog().find_table(before->oid);
    if (!now) return;
    sql::TableDef restored = *before;
    restored.next_column = now->next_column;
    restored.used_fields = now->used_fields;
    for (const sql::ColumnDef& column : now->columns) {
      if (before->find_column(column.number) == nullptr) restored.used_fields.push_back(column.field);
    }
    for (const sql::ColumnDef& column : before->columns) std::erase(restored.used_fields, column.field);
    if (now->managed().presence != before->managed().presence && now->managed().stores_key) {
      restored.managed().presence = now->managed().presence;
      restored.managed().stores_key = true;
    }
    draft.remove_unused_structures(*now, restored);
    draft.put(std::move(restored));
  };
  co_await change_catalog(context, make);
}

asio::awaitable<void> finish_removals_of(RedisClient& client, const std::vector<Removal>& pending, TablePtr table) {
  for (const TablePtr& stored : sql::stored_tables(table)) {
    for (const Removal& removal : pending) {
      if (removal.prefix == stored->prefix && !removal.whole) co_await run_removal(client, removal);
    }
  }
}

asio::awaitable<void> finish_removals(RedisClient& redis) {
  LoadedCatalog loaded = co_await load_catalog(redis);
  SessionState session;
  DdlContext context{redis, redis, session, redis};
  for (const auto& table : loaded.snapshot->managed_tables()) {  // structures of others are only not believed yet
    if (table->partition_key) continue;  // its indexes wait for those of its partitions, and nothing fills them
    for (const sql::IndexDef& index : table->indexes) {
      if (index.state == sql::IndexState::kReady || index.rebuilding) continue;
      CommandBatch batch;
      batch.add("EXISTS", building_key(index.oid));
      RepliesPtr replies = co_await redis.execute(std::move(batch));
      const bool is_built = replies->integer(0) == 1;
      std::vector<sql::Oid> abandoned{index.oid};
      if (!is_built) co_await drop_indexes(context, table->oid, std::move(abandoned));
    }
  }
  loaded = co_await load_catalog(redis);
  for (const Removal& removal : loaded.removals) {
    if (!co_await has_living_owner(redis, removal)) co_await run_removal(redis, removal);
  }
}

}  // namespace redquel::executor
