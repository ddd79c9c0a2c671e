#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/sequence_restart.h"
#include "executor/roles/access.h"
#include "executor/storage/table_walk.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/structure_kind.h"
#include "sql/catalog/table_keys.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

// The most rows that the committing script itself deletes. A larger table gets another prefix at once, and the keys under the old one are
// deleted afterwards. When they are gone and no session has written yet, the table gets its old prefix back.
constexpr std::int64_t kRowsDeletedAtOnce = 10'000;

constexpr int kTruncateAttempts = 20;

/// The keys to delete for a table to be empty, at one value of its counter of changes.
struct Contents {
  bool is_large = false;
  std::string change_counter;
  std::vector<std::string> keys;
};

asio::awaitable<Contents> read_contents(RedisClient& client, TablePtr table) {
  const sql::TableKeys keys(*table);
  const std::vector<sql::Structure> structures = sql::structures_of(*table);
  Contents contents;
  CommandBatch size;
  size.add("ZCARD", keys.all_rows());
  RepliesPtr counted = co_await client.execute(std::move(size));
  contents.is_large = counted->integer(0) > kRowsDeletedAtOnce;

  CommandBatch batch;
  batch.add("GET", keys.changes());
  if (!contents.is_large) {
    batch.add("ZRANGE", keys.all_rows(), "0", kRowsDeletedAtOnce + 1000);
    for (const sql::Structure& structure : structures) {
      const sql::StructureKind& kind = sql::structure_kind(structure.kind);
      if (kind.lists_values()) batch.add("SMEMBERS", kind.key(keys, structure.columns));
    }
  }
  RepliesPtr replies = co_await client.execute_atomic(std::move(batch));
  contents.change_counter = std::string(replies->text(0).value_or(""));
  if (contents.is_large) co_return contents;

  contents.keys.push_back(keys.all_rows());
  for (const Reply& member : replies->array(1)) contents.keys.push_back(keys.row_of_member(member.text));
  contents.keys.push_back(keys.expiries());
  contents.keys.push_back(keys.entries());
  std::size_t reply = 2;
  for (const sql::Structure& structure : structures) {
    const sql::StructureKind& kind = sql::structure_kind(structure.kind);
    if (kind.lists_values()) {
      for (const Reply& entry : replies->array(reply++)) contents.keys.push_back(kind.value_key(keys, structure.columns, entry.text));
    }
    contents.keys.push_back(kind.key(keys, structure.columns));
  }
  co_return contents;
}

/// Gives the table another prefix; its counters go along.
void move_to_prefix(CatalogDraft& draft, const sql::TableDef& table, const std::string& prefix) {
  const DependentChanges checked;
  sql::TableDef changed = table;
  changed.prefix = prefix;
  sql::make_parts(changed);
  draft.rename_key(sql::TableKeys(table).row_counter(), sql::TableKeys(changed).row_counter());
  const sql::DefinitionMap<sql::SequenceDef> sequences = draft.catalog().sequences;
  for (auto [oid, sequence] : sequences) {
    if (sequence.owner_table != table.oid || !sequence.key.starts_with(table.prefix + ":")) continue;
    const std::string key = prefix + sequence.key.substr(table.prefix.size());
    draft.rename_key(sequence.key, key);
    sequence.key = key;
    draft.put(std::move(sequence));
  }
  draft.remove_stored_tables(table);
  draft.put(std::move(changed));
}

/// Tables that refer to these go along, or forbid it. `notes`: in a notice.
void add_referencing(CatalogDraft& draft, bool cascade, bool notes, std::vector<TablePtr>& tables) {
  for (std::size_t index = 0; index < tables.size(); ++index) {
    for (sql::Oid oid : tables[index]->referencing) {
      const auto is_emptied = [&](const TablePtr& one) { return std::ranges::find(tables, one->oid, &sql::TableDef::oid) != tables.end(); };
      const TablePtr table = draft.catalog().find_table(oid);
      if (table->partition_key ? std::ranges::all_of(table->parts, is_emptied) : is_emptied(table)) continue;
      if (!cascade) {
        throw SqlError(sqlstate::kFeatureNotSupported, "cannot truncate a table referenced in a foreign key constraint")
            .detail(fmt::format("Table \"{}\" references \"{}\".", table->name, tables[index]->name))
            .hint(fmt::format("Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.", table->name));
      }
      if (notes) draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("truncate cascades to table \"{}\"", table->name));
      require_rights(draft.session(), draft.catalog(), sql::AclKind::kTable, table->oid, sql::right::kTruncate);
      if (!table->partition_key) tables.push_back(table);  // the partitions have foreign keys, too
    }
  }
}

std::vector<TablePtr> find_tables(CatalogDraft& draft, const ast::Truncate& statement, bool notes = true) {
  std::vector<TablePtr> tables;
  for (const ast::TableRef& relation : statement.relations) {
    check_schema(draft, relation.name);
    TablePtr table = require_table(draft, relation.name);
    if (table->materialized) throw sql::wrong_object_kind(table->name, "a table");
    if (table->is_mapped()) throw sql::not_supported("TRUNCATE of a foreign table");
    require_rights(draft.session(), draft.catalog(), sql::AclKind::kTable, table->oid, sql::right::kTruncate);
    const std::vector<TablePtr> emptied = table->partition_key ? table->parts : std::vector{table};
    for (const TablePtr& one : emptied) {
      const auto is_same = [&](const TablePtr& other) { return other->oid == one->oid; };
      if (std::none_of(tables.begin(), tables.end(), is_same)) tables.push_back(one);
    }
  }
  add_referencing(draft, statement.cascade, notes, tables);
  return tables;
}

/// The prefix that a new table of that name would have, if it is free and the table still empty.
asio::awaitable<void> return_prefix(DdlContext& context, sql::Oid oid, std::string prefix) {
  LoadedCatalog loaded = co_await load_committed(context);
  const TablePtr table = loaded.snapshot->find_table(oid);
  if (!table || !table->parts.empty() || table->prefix == prefix || loaded.prefixes.contains(prefix)) co_return;
  const TableState state = co_await table_state(context.redis, *table);
  if (!state.is_empty) co_return;
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr now = draft.catalog().find_table(oid);
    if (!now || now->version != table->version) return;
    if (!draft.reserve_exactly(prefix, fmt::format("table {}", oid))) return;
    draft.require_unchanged(state);
    const DependentChanges checked;
    move_to_prefix(draft, *now, prefix);
  };
  co_await try_change_catalog(context, make);
}

}  // namespace

namespace {

/// Returns the tables whose triggers fire: partitioned ones, too, which have no rows of their own.
std::vector<TablePtr> tables_that_fire(const CatalogDraft& draft, const ast::Truncate& statement, const std::vector<TablePtr>& emptied) {
  std::vector<TablePtr> tables;
  const auto add = [&](const TablePtr& table) {
    const auto is_same = [&](const TablePtr& other) { return other->oid == table->oid; };
    const bool fires = std::ranges::any_of(table->triggers, [](const sql::TriggerDef& trigger) { return trigger.is_for(sql::TriggerDef::Event::kTruncate); });
    if (fires && std::ranges::none_of(tables, is_same)) tables.push_back(table);
  };
  for (const ast::TableRef& relation : statement.relations) add(require_table(draft, relation.name));
  for (const TablePtr& table : emptied) add(table);
  return tables;
}

/// In a transaction the table gets another, empty prefix and keeps it. Its counters start again there; the others follow with the commit.
asio::awaitable<void> truncate_in_transaction(DdlContext& context, const ast::Truncate& statement) {
  std::vector<TablePtr> firing;
  const MakeDraft look = [&](CatalogDraft& draft) { firing = tables_that_fire(draft, statement, find_tables(draft, statement)); };
  if (context.fire_truncate) {
    DdlContext looking = context;
    looking.statement.clear();
    co_await change_catalog(looking, look);
    co_await context.fire_truncate(firing, sql::TriggerDef::Timing::kBefore);
  }
  CommandBatch batch;
  SequenceRestarts restarts;
  const MakeDraft make = [&](CatalogDraft& draft) {
    batch = {};
    restarts.clear();
    const std::vector<TablePtr> tables = find_tables(draft, statement, !context.fire_truncate);
    const DependentChanges checked;
    for (const TablePtr& table : tables) {
      const std::string prefix = draft.reserve_place(*table);
      const sql::DefinitionMap<sql::SequenceDef> sequences = draft.catalog().sequences;
      for (auto [oid, sequence] : sequences) {
        if (sequence.owner_table != table->oid || !statement.restart_identity) continue;
        if (!sequence.key.starts_with(table->prefix + ":")) {
          restarts.emplace_back(oid, sequence.start);
          continue;
        }
        draft.delete_key(sequence.key);
        sequence.key = prefix + sequence.key.substr(table->prefix.size());
        batch.add("DEL", sequence.key);  // of a TRUNCATE that was taken back
        draft.put(std::move(sequence));
      }
      draft.remove_stored_tables(*table);
      sql::TableDef changed = *table;
      changed.prefix = prefix;
      draft.put(std::move(changed));
    }
  };
  co_await change_catalog(context, make);
  RepliesPtr replies = co_await context.redis.execute(std::move(batch));
  replies->or_throw();
  co_await restart_sequences(context, std::move(restarts));
  if (context.fire_truncate) co_await context.fire_truncate(firing, sql::TriggerDef::Timing::kAfter);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::Truncate& statement) {
  if (context.session.transaction) co_return co_await truncate_in_transaction(context, statement);
  std::vector<std::pair<sql::Oid, std::string>> moved;
  for (int attempt = 0; attempt < kTruncateAttempts; ++attempt) {
    LoadedCatalog loaded = co_await load_committed(context);
    CatalogDraft names(loaded, context.session);
    const std::vector<TablePtr> tables = find_tables(names, statement);
    std::map<sql::Oid, Contents> contents;
    for (const TablePtr& table : tables) {
      for (const TablePtr& stored : sql::stored_tables(table)) {
        Contents read = co_await read_contents(context.redis, stored);
        contents.emplace(stored->oid, std::move(read));
      }
    }
    moved.clear();
    bool is_same = true;
    const MakeDraft make = [&](CatalogDraft& draft) {
      const std::vector<TablePtr> now = find_tables(draft, statement);
      const DependentChanges checked;
      is_same = std::equal(now.begin(), now.end(), tables.begin(), tables.end(), [](const TablePtr& a, const TablePtr& b) {
        return a->oid == b->oid && a->version == b->version;
      });
      if (!is_same) return;
      for (const TablePtr& table : now) {
        const std::vector<TablePtr> stored = sql::stored_tables(table);
        if (statement.restart_identity) {
          const sql::DefinitionMap<sql::SequenceDef> sequences = draft.catalog().sequences;
          for (auto [oid, sequence] : sequences) {
            if (sequence.owner_table != table->oid) continue;
            draft.delete_key(sequence.key);
            ++sequence.changes;
            if (sequence.cache > 1) draft.put(std::move(sequence));
          }
        }
        if (std::ranges::any_of(stored, [&](const TablePtr& part) { return contents.at(part->oid).is_large; })) {
          moved.emplace_back(table->oid, table->prefix);
          move_to_prefix(draft, *table, draft.reserve_place(*table));
          continue;
        }
        for (const TablePtr& part : stored) {
          const Contents& found = contents.at(part->oid);
          for (const std::string& key : found.keys) draft.delete_key(key);
          draft.require_unchanged(part->oid, found.change_counter);
        }
        draft.count_change(table->oid);
        draft.put(*table);
      }
    };
    const bool is_committed = co_await try_change_catalog(context, make);
    if (!is_committed || !is_same) continue;
    for (const auto& [oid, prefix] : moved) co_await return_prefix(context, oid, prefix);
    co_return;
  }
  throw SqlError(sqlstate::kSerializationFailure, "could not truncate due to concurrent writes");
}

}  // namespace redquel::executor
