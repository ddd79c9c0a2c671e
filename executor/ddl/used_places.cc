#include "executor/ddl/used_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "executor/redis/redis_error.h"
#include "executor/scripts/scripts.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/catalog_json.h"
#include "sql/catalog/mapping.h"
#include "sql/catalog/prefixes.h"
#include "sql/catalog/structure_kind.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;
using sql::Structure;
using TablePtr = sql::CatalogSnapshot::TablePtr;

namespace {

// A look ends after so many steps, each of about half a millisecond of Redis: 200,000 keys.
constexpr std::size_t kSteps = 100, kKeysPerStep = 2000;
/// Other prefixes are tried so often.
constexpr std::size_t kMostUsed = 20;

/// The foreign tables over keys of the session's logical database, whichever database defines them.
asio::awaitable<std::vector<TablePtr>> foreign_tables_over(DdlContext& context, const CatalogDraft& draft) {
  std::vector<TablePtr> tables;
  for (const TablePtr& table : draft.catalog().mapped_tables()) {
    if (table->mapping().database.value_or(context.database) == context.database) tables.push_back(table);
  }
  if (sql::uses_cluster()) co_return tables;  // there are no other databases
  const std::vector<std::string> keys, arguments{std::to_string(context.database)};
  const RepliesPtr replies = co_await run_script(context.redis, kForeignTablesScript, keys, arguments);
  const std::span<const Reply> others = replies->array(0);
  for (std::size_t index = 0; index + 1 < others.size(); index += 2) {
    TablePtr table;
    try {
      table = std::make_shared<const sql::TableDef>(sql::decode_table(others[index + 1].text));
    } catch (const SqlError&) {  // sessions of that database are told
      continue;
    }
    if (table->is_mapped() && table->mapping().database == context.database) tables.push_back(std::move(table));
  }
  co_return tables;
}

/// Returns true if a look finds a key under the prefix. Counters of row keys do not count: an INSERT may make one again after a DROP TABLE.
asio::awaitable<bool> has_keys(RedisClient& redis, std::string prefix) {
  sql::TableDef table;
  table.prefix = prefix;
  const std::string counter = sql::TableKeys(table).row_counter();
  CommandBatch names;
  names.add("EXISTS", sql::TableKeys(table).all_rows(), prefix + ":id");
  const RepliesPtr named = co_await redis.execute(std::move(names));
  if (named->integer(0) > 0) co_return true;
  std::string cursor = "0";
  for (std::size_t step = 0; step < kSteps; ++step) {
    CommandBatch batch;
    batch.add("SCAN", cursor, "MATCH", prefix + ":*", "COUNT", kKeysPerStep);  // no prefix holds a character that MATCH would interpret
    const RepliesPtr replies = co_await redis.execute(std::move(batch));
    const std::span<const Reply> parts = replies->array(0);
    if (parts.size() != 2 || !parts[0].is_text()) throw unexpected_reply("SCAN", "a cursor and keys");
    for (const Reply& key : parts[1].children()) {
      if (key.text != counter) co_return true;
    }
    cursor = std::string(parts[0].text);
    if (cursor == "0") break;
  }
  co_return false;
}

/// Foreign tables that reach even the catalog were made by an older build; every prefix would be used.
bool may_use(const sql::TableDef& foreign, std::string_view prefix) {
  return sql::may_reach(foreign, prefix) && !sql::may_reach(foreign, "redquel");
}

}  // namespace

void UsedPlaces::keep_from(CatalogDraft& draft) const {
  for (const auto& [prefix, use] : used_) draft.avoid_used_prefix(prefix, use);
}

asio::awaitable<std::string> UsedPlaces::use_of(DdlContext& context, const CatalogDraft& draft, std::string prefix) {
  const std::vector<TablePtr> tables = co_await foreign_tables_over(context, draft);
  for (const TablePtr& table : tables) {
    if (may_use(*table, prefix)) co_return fmt::format("Keys of foreign table \"{}\" may begin with \"{}:\".", table->name, prefix);
  }
  if (co_await has_keys(context.redis, prefix)) co_return fmt::format("Another program has keys that begin with \"{}:\".", prefix);
  co_return std::string();
}

asio::awaitable<bool> UsedPlaces::find(DdlContext& context, const CatalogDraft& draft, std::size_t known) {
  bool has_found = false;
  const std::vector<std::pair<std::string, std::string>> reserved = draft.reserved_prefixes();
  for (std::size_t index = known; index < reserved.size(); ++index) {
    const std::string& prefix = reserved[index].first;
    if (prefix.starts_with(sql::kTemporarySchemaPrefix)) continue;  // a random name
    if (reserved[index].second.starts_with(kPartOwner)) continue;   // the prefix of the table is looked at
    std::string use = co_await use_of(context, draft, prefix);
    if (use.empty()) continue;
    if (used_.size() >= kMostUsed) {
      throw SqlError(sqlstate::kInvalidObjectDefinition, fmt::format("there is no free prefix for the keys of {}", reserved[index].second))
          .detail(std::move(use));
    }
    used_.emplace(prefix, std::move(use));
    has_found = true;
  }
  co_return has_found;
}

asio::awaitable<void> check_foreign_places(DdlContext& context, const CatalogDraft& draft, const sql::CatalogSnapshot& before) {
  for (const sql::Oid oid : draft.touched_tables()) {
    const TablePtr table = draft.catalog().find_table(oid), known = before.find_table(oid);
    if (!table || !table->is_mapped() || table == known) continue;
    const int database = table->mapping().database.value_or(context.database);
    std::vector<std::string> prefixes = draft.prefixes().all();
    if (database != context.database && context.redis.own_keyspace() != nullptr) continue;  // no other database has tables of its own
    if (database != context.database) {
      const std::vector<std::string> keys, arguments{std::to_string(database)};
      const RepliesPtr replies = co_await run_script(context.redis, kPrefixesOfDatabaseScript, keys, arguments);
      if ((*replies)[0].is_error()) continue;  // Redis has no such database
      prefixes.clear();
      for (const Reply& prefix : replies->array(0)) prefixes.emplace_back(prefix.text);
    }
    const bool is_same_place = known && known->is_mapped() && known->mapping().database == table->mapping().database;
    for (const std::string& prefix : prefixes) {
      if (!sql::may_reach(*table, prefix) || (is_same_place && sql::may_reach(*known, prefix))) continue;
      throw SqlError(sqlstate::kInvalidObjectDefinition,
                     fmt::format("keys of foreign table \"{}\" could begin with \"{}:\", as keys of redquel's own do", table->name, prefix))
          .detail(fmt::format("Its key template is \"{}\".", sql::template_text(table->mapping().key, *table)));
    }
  }
}

namespace {

/// The key whose presence shows that the structure exists.
std::string key_of(const sql::TableDef& table, const Structure& structure) {
  return sql::structure_kind(structure.kind).key(sql::TableKeys(table), structure.columns);
}

std::set<std::string> structure_keys(const sql::TableDef& table) {
  std::set<std::string> keys;
  for (const auto& part : table.parts) keys.merge(structure_keys(*part));
  if (!keys.empty() || !table.parts.empty()) return keys;
  for (const Structure& structure : sql::structures_of(table)) keys.insert(key_of(table, structure));
  return keys;
}

bool is_known_sequence(const std::vector<const sql::CatalogSnapshot*>& known, const sql::SequenceDef& sequence) {
  return std::ranges::any_of(known, [&](const sql::CatalogSnapshot* catalog) {
    std::vector<sql::Oid> oids = catalog->sequences_of(sequence.owner_table);
    oids.push_back(sequence.oid);
    return std::ranges::any_of(oids, [&](sql::Oid oid) {
      const sql::SequenceDef* before = catalog->sequences.get(oid);
      return before != nullptr && before->key == sequence.key;
    });
  });
}

}  // namespace

asio::awaitable<void> check_new_structures(DdlContext& context, const CatalogDraft& draft,
                                           std::vector<const sql::CatalogSnapshot*> known) {
  std::vector<std::string> added;
  for (const sql::Oid oid : draft.touched_tables()) {
    const TablePtr table = draft.catalog().find_table(oid);
    if (!table || table->partition_key || known.front()->find_table(oid) == table) continue;  // partitions are looked at themselves
    const auto is_going = [&](const Removal& removal) { return removal.prefix == table->prefix; };
    if (std::ranges::any_of(draft.pending_removals(), is_going)) continue;
    std::set<std::string> keys = structure_keys(*table);
    bool is_moved = false;
    for (const sql::CatalogSnapshot* catalog : known) {
      const TablePtr before = catalog->find_table(oid);
      if (!before) continue;
      is_moved = is_moved || before->prefix != table->prefix;
      for (const std::string& key : structure_keys(*before)) keys.erase(key);
    }
    if (!is_moved) added.insert(added.end(), keys.begin(), keys.end());
  }
  const std::size_t structures = added.size();
  for (const sql::Oid oid : draft.touched_sequences()) {
    const sql::SequenceDef* made = draft.catalog().sequences.get(oid);
    if (made == nullptr || made->foreign || is_known_sequence(known, *made)) continue;
    const sql::SequenceDef& sequence = *made;
    const TablePtr owner = known.front()->find_table(sequence.owner_table);
    if (owner && sequence.key.starts_with(owner->prefix + ":")) added.push_back(sequence.key);
  }
  if (added.empty()) co_return;
  CommandBatch batch;
  for (const std::string& key : added) batch.add("EXISTS", key);
  const RepliesPtr replies = co_await context.redis.execute(std::move(batch));
  for (std::size_t index = 0; index < added.size(); ++index) {
    if (replies->integer(index) == 0) continue;
    throw SqlError(sqlstate::kDataCorrupted, fmt::format("key \"{}\" in Redis is not redquel's", added[index]))
        .detail(index < structures ? "Another program has written it where the index would have its entries."
                                   : "Another program has written it where the sequence would have its counter.")
        .hint("Rename or delete the key.");
  }
}

}  // namespace redquel::executor
