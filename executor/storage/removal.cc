#include "executor/storage/removal.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <set>

#include "executor/redis/bad_key.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/unreplicated_commits.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/catalog_marks.h"
#include "executor/storage/locks.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/structure_kind.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace json = boost::json;
using sql::Structure;

namespace {

// Keys that one command may name, and that one SCAN or SSCAN step looks at: a millisecond or so of Redis.
constexpr std::size_t kStep = 1000;

json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

/// Makes a definition with the columns' fields alone: enough for keys of structures.
sql::TableDef table_of(const Removal& removal, const std::vector<std::string>& fields) {
  sql::TableDef table;
  table.prefix = removal.prefix;
  for (const std::string& field : fields) {
    sql::ColumnDef column;
    column.number = static_cast<std::int16_t>(table.columns.size() + 1);
    column.field = field;
    column.type = sql::kText;
    table.columns.push_back(std::move(column));
  }
  return table;
}

/// Deletes the keys that have the type: others are not redquel's. Returns false if another process finished the removal.
asio::awaitable<bool> unlink(RedisClient& client, const Removal& removal, const std::vector<std::string>& keys, std::string_view type) {
  if (keys.empty()) co_return true;
  const std::vector<std::string> arguments{removal.id, std::string(type)};
  RepliesPtr replies = co_await run_script(client, kUnlinkRemovedScript, keys, arguments);
  co_return replies->integer(0) >= 0;
}

std::vector<std::string> texts_of(std::span<const Reply> replies) {
  std::set<std::string> texts;  // SCAN may repeat itself
  for (const Reply& reply : replies) {
    if (reply.is_text()) texts.emplace(reply.text);
  }
  return {texts.begin(), texts.end()};
}

/// Takes the cursor and the elements out of a SCAN's reply.
std::pair<std::string, std::vector<std::string>> scan_step(const Replies& replies) {
  const std::span<const Reply> parts = replies.array(0);
  if (parts.size() != 2 || !parts[0].is_text()) throw unexpected_reply(replies.command(0), "a cursor and elements");
  return {std::string(parts[0].text), texts_of(parts[1].children())};
}

/// Makes a definition with a primary key of so many columns: enough for keys of rows.
sql::TableDef keyed_table(const Removal& removal, std::size_t columns) {
  sql::TableDef table = table_of(removal, std::vector<std::string>(columns));
  for (const sql::ColumnDef& column : table.columns) table.primary_key.push_back(column.number);
  return table;
}

/// Returns the key of the row with this member; nullopt if no row of the table can have it.
std::optional<std::string> row_key(const sql::TableDef& table, std::string_view member) {
  try {
    return sql::TableKeys(table).row_of_member(member);
  } catch (const sql::SqlError&) {
    return std::nullopt;
  }
}

/// Deletes the rows that the zset names. Returns false if another process finished the removal.
asio::awaitable<bool> remove_rows(RedisClient& client, const Removal& removal) {
  const sql::TableDef table = keyed_table(removal, removal.composite_key ? 2 : 1);
  std::vector<std::string> keys{sql::TableKeys(table).all_rows()}, arguments{removal.id, std::to_string(kStep)};
  while (true) {
    RepliesPtr replies = co_await run_script(client, kUnlinkRowsScript, keys, arguments);
    if ((*replies)[0].kind == Reply::Kind::integer) co_return false;
    const std::span<const Reply> members = replies->array(0);
    if (members.empty()) co_return true;
    keys.resize(1), arguments.resize(2);
    for (const Reply& member : members) {
      if (auto key = row_key(table, member.text)) keys.push_back(*std::move(key));
      arguments.emplace_back(member.text);
    }
  }
}

/// Deletes the keys of the values that `list` holds. Returns false if another process finished the removal.
asio::awaitable<bool> remove_value_keys(RedisClient& client, const Removal& removal, const sql::TableKeys& keys, const sql::StructureKind& kind,
                                        const std::vector<std::int16_t>& columns, const std::string& list) {
  std::string cursor = "0";
  do {
    CommandBatch batch;
    batch.add("SSCAN", list, cursor, "COUNT", kStep);
    RepliesPtr replies = co_await client.execute(std::move(batch));
    if (is_wrong_type((*replies)[0])) break;
    auto [next, entries] = scan_step(*replies);
    std::vector<std::string> sets;
    for (const std::string& entry : entries) {
      try {
        sets.push_back(kind.value_key(keys, columns, entry));
      } catch (const sql::SqlError&) {  // no value of these columns
      }
    }
    if (!co_await unlink(client, removal, sets, kind.entry_form().type)) co_return false;
    cursor = std::move(next);
  } while (cursor != "0");
  co_return true;
}

/// Deletes one structure. Returns false if another process finished the removal.
asio::awaitable<bool> remove_part(RedisClient& client, const Removal& removal, const Removal::Part& part) {
  const sql::TableDef table = table_of(removal, part.fields);
  const sql::TableKeys keys(table);
  std::vector<std::int16_t> columns;
  for (const sql::ColumnDef& column : table.columns) columns.push_back(column.number);

  const sql::StructureKind& kind = sql::structure_kind(part.kind);
  const std::vector<std::string> last{kind.key(keys, columns)};
  if (kind.lists_values() && !co_await remove_value_keys(client, removal, keys, kind, columns, last[0])) co_return false;
  co_return co_await unlink(client, removal, last, kind.form().type);
}

/// Returns the structure that has a key of this name (without the prefix); nullopt if the name is no structure's.
std::optional<Removal::Part> part_of_name(std::string_view key) {
  const std::vector<std::string_view> segments = sql::split_segments(key);
  if (segments.size() < 2 || segments[1] == sql::kExpirySegment) return std::nullopt;
  for (const sql::StructureKind* kind : sql::structure_kinds()) {
    const std::optional<sql::StructureKeyName> name = kind->read_key(segments);
    if (!name) continue;
    if (!name->values.empty()) return std::nullopt;
    Removal::Part part{kind->kind(), {}};
    try {
      for (const std::string_view column : name->columns) part.fields.push_back(sql::unescape_segment(column));
    } catch (const sql::SqlError&) {  // no escaped name: not redquel's
      return std::nullopt;
    }
    return part;
  }
  return std::nullopt;
}

/// Finds out whether the rows of an older build's entry have keys of several columns: then a member that holds a colon is no escaped text.
asio::awaitable<bool> has_composite_key(RedisClient& client, const Removal& removal) {
  const sql::TableDef simple = keyed_table(removal, 1);
  CommandBatch first;
  first.add("ZRANGE", sql::TableKeys(simple).all_rows(), 0, kStep - 1);
  const RepliesPtr members = co_await client.execute(std::move(first));
  if (is_wrong_type((*members)[0])) co_return false;
  CommandBatch looks;
  std::size_t asked = 0;
  for (const Reply& member : members->array(0)) {
    if (member.text.find(':') == std::string_view::npos) continue;
    looks.add("EXISTS", *row_key(simple, member.text));
    ++asked;
  }
  const RepliesPtr found = co_await client.execute(std::move(looks));
  for (std::size_t index = 0; index < asked; ++index) {
    if (found->integer(index) == 1) co_return false;
  }
  co_return asked > 0;
}

/// Completes an entry of an older build by the names of keys.
asio::awaitable<void> find_parts(RedisClient& client, Removal& removal) {
  removal.composite_key = co_await has_composite_key(client, removal);
  const std::string pattern = removal.prefix + ":*";  // no prefix holds a character that MATCH would interpret
  std::string cursor = "0";
  do {
    CommandBatch batch;
    batch.add("SCAN", cursor, "MATCH", pattern, "COUNT", kStep);
    RepliesPtr replies = co_await client.execute(std::move(batch));
    auto [next, keys] = scan_step(*replies);
    for (const std::string& key : keys) {
      if (auto part = part_of_name(std::string_view(key).substr(removal.prefix.size() + 1))) removal.parts.push_back(*std::move(part));
    }
    cursor = std::move(next);
  } while (cursor != "0");
}

/// Deletes counters and what rows with a time to live have. Returns false if another process finished the removal.
asio::awaitable<bool> remove_counters(RedisClient& client, const Removal& removal) {
  const sql::TableDef table = table_of(removal, {});
  const sql::TableKeys keys(table);
  std::vector<std::string> counters = removal.counters;
  counters.push_back(keys.row_counter());
  const std::vector<std::string> expiries{keys.expiries()}, entries{keys.entries()};
  if (!co_await unlink(client, removal, counters, "string")) co_return false;
  if (!co_await unlink(client, removal, expiries, "zset")) co_return false;
  co_return co_await unlink(client, removal, entries, "hash");
}

std::vector<std::string> fields_of(const sql::TableDef& table, const Structure& structure) {
  std::vector<std::string> fields;
  for (std::int16_t number : structure.columns) fields.push_back(table.find_column(number)->field);
  return fields;
}

}  // namespace

Removal removal_of_table(const sql::TableDef& table) {
  Removal removal{random_version(), table.prefix, true, {}};
  removal.composite_key = sql::TableKeys(table).key_size() > 1;
  for (const sql::IndexDef& index : table.indexes) {
    add_parts(removal, removal_of_structures(table, sql::structures_of(table, index)));
  }
  return removal;
}

Removal removal_of_structures(const sql::TableDef& table, const std::vector<Structure>& structures) {
  Removal removal{random_version(), table.prefix, false, {}};
  for (const Structure& structure : structures) removal.parts.push_back({structure.kind, fields_of(table, structure)});
  return removal;
}

bool add_parts(Removal& removal, const Removal& other) {
  const auto add = [](auto& to, const auto& from) {
    const std::size_t before = to.size();
    for (const auto& one : from) {
      if (std::ranges::find(to, one) == to.end()) to.push_back(one);
    }
    return to.size() > before;
  };
  const bool has_parts = add(removal.parts, other.parts), has_counters = add(removal.counters, other.counters);
  return has_parts || has_counters;
}

std::string encode_removal(const Removal& removal) {
  json::object object;
  object.emplace("prefix", view(removal.prefix));
  object.emplace("whole", removal.whole);
  json::array parts;
  for (const Removal::Part& part : removal.parts) {
    json::array fields;
    for (const std::string& field : part.fields) fields.push_back(json::value(view(field)));
    json::object one;
    one.emplace("kind", static_cast<std::int64_t>(part.kind));
    one.emplace("fields", std::move(fields));
    parts.push_back(std::move(one));
  }
  object.emplace("parts", std::move(parts));
  if (removal.whole && !removal.names_nothing) {
    object.emplace("composite", removal.composite_key);
    json::array counters;
    for (const std::string& counter : removal.counters) counters.push_back(json::value(view(counter)));
    object.emplace("counters", std::move(counters));
  }
  if (!removal.owner.empty()) object.emplace("owner", view(removal.owner));
  return json::serialize(object);
}

Removal decode_removal(std::string_view id, std::string_view text) {
  const auto string = [](const json::value& value) {
    const json::string& found = value.as_string();
    return std::string(found.data(), found.size());
  };
  try {
    const json::value value = json::parse(view(text));
    const json::object& object = value.as_object();
    Removal removal{std::string(id), string(object.at("prefix")), object.at("whole").as_bool(), {}};
    for (const json::value& element : object.at("parts").as_array()) {
      const std::int64_t kind = element.as_object().at("kind").as_int64();
      if (kind < 0 || kind >= static_cast<std::int64_t>(sql::structure_kinds().size())) throw std::out_of_range("kind");
      Removal::Part part{static_cast<Structure::Kind>(kind), {}};
      for (const json::value& field : element.as_object().at("fields").as_array()) part.fields.push_back(string(field));
      if (part.fields.empty()) throw std::out_of_range("fields");
      removal.parts.push_back(std::move(part));
    }
    if (const json::value* composite = object.if_contains("composite")) {
      removal.composite_key = composite->as_bool();
      for (const json::value& counter : object.at("counters").as_array()) removal.counters.push_back(string(counter));
    } else {
      removal.names_nothing = removal.whole;
    }
    if (const json::value* owner = object.if_contains("owner")) removal.owner = string(*owner);
    if (removal.prefix.empty()) throw std::out_of_range("prefix");
    return removal;
  } catch (const std::exception&) {
    throw sql::SqlError(sqlstate::kDataCorrupted, "an entry of redquel:removals cannot be read");
  }
}

asio::awaitable<bool> has_living_owner(RedisClient& client, const Removal& removal) {
  if (removal.owner.empty()) co_return false;
  CommandBatch batch;
  batch.add("EXISTS", process_key(removal.owner));
  RepliesPtr replies = co_await client.execute(std::move(batch));
  co_return replies->integer(0) == 1;
}

asio::awaitable<void> run_removal(RedisClient& client, Removal removal) {
  // A failover could bring back the definition that has the keys.
  if (UnreplicatedCommits* const commits = client.unreplicated()) co_await commits->all_confirmed();
  co_await publish_version_to(client, std::string(sql::tag_of(removal.prefix)));
  if (removal.names_nothing) co_await find_parts(client, removal);
  bool is_ours = true;
  if (removal.whole) is_ours = co_await remove_rows(client, removal);
  if (removal.whole && is_ours) is_ours = co_await remove_counters(client, removal);
  for (const Removal::Part& part : removal.parts) {
    if (!is_ours) break;
    is_ours = co_await remove_part(client, removal, part);
  }
  if (const std::string_view tag = sql::tag_of(removal.prefix); tag != sql::home_tag()) {
    // The bucket has an entry of its own, for the scripts that delete there. It goes first: behind the other one the names are free.
    CommandBatch batch;
    batch.add("HDEL", own_key(tag, sql::kRemovalsKey), removal.id);
    const RepliesPtr replies = co_await client.execute(std::move(batch));
    replies->or_throw();
    is_ours = true;
  }
  if (!is_ours) co_return;
  const std::vector<std::string> keys{sql::home_key(sql::kRemovalsKey), sql::home_key(sql::kPrefixesKey)};
  const std::vector<std::string> arguments{removal.id, removal.whole ? removal.prefix : std::string()};
  RepliesPtr replies = co_await run_script(client, kFinishRemovalScript, keys, arguments);
  replies->checked(0);
}

}  // namespace redquel::executor
