#include "executor/storage/removal.h"

#include <boost/json.hpp>
#include <set>

#include "executor/redis/redis_error.h"
#include "executor/redis/script.h"
#include "executor/storage/random_version.h"
#include "executor/transaction/locks.h"
#include "sql/error.h"

namespace redquel::executor {

namespace json = boost::json;
using sql::Structure;

namespace {

// Keys that one command may name, and that one SCAN or SSCAN step looks at: a millisecond or so of Redis.
constexpr std::size_t kStep = 1000;

// The entry is looked at in the same script: once it is gone, the names may belong to a new index.
const Script& unlink_script() {
  static const Script kScript("unlink_removed", R"lua(
if redis.call('HEXISTS', 'redquel:removals', ARGV[1]) == 0 then return -1 end
return redis.call('UNLINK', unpack(KEYS))
)lua");
  return kScript;
}

// The rows of a table as their zset names them, which lie in Redis side by side; a row of another name is found by SCAN. Keys: the zset.
const Script& unlink_rows_script() {
  static const Script kScript("unlink_rows", R"lua(
if redis.call('HEXISTS', 'redquel:removals', ARGV[1]) == 0 then return -1 end
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then return 0 end
local rows = redis.call('ZRANGE', KEYS[1], 0, ARGV[3])
for i = 1, #rows do rows[i] = ARGV[2] .. rows[i] end
redis.call('UNLINK', unpack(rows))
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, ARGV[3])
return #rows
)lua");
  return kScript;
}

const Script& finish_script() {
  static const Script kScript("finish_removal", R"lua(
if redis.call('HDEL', 'redquel:removals', ARGV[1]) == 1 and ARGV[2] ~= '' then redis.call('HDEL', 'redquel:prefixes', ARGV[2]) end
)lua");
  return kScript;
}

json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

/// A definition that has the columns' fields and nothing else: enough for keys of structures.
sql::TableDef table_of(const Removal& removal, const Removal::Part& part) {
  sql::TableDef table;
  table.prefix = removal.prefix;
  for (const std::string& field : part.fields) {
    sql::ColumnDef column;
    column.number = static_cast<std::int16_t>(table.columns.size() + 1);
    column.field = field;
    column.type = sql::kText;
    table.columns.push_back(std::move(column));
  }
  return table;
}

/// False: somebody else finished the removal.
asio::awaitable<bool> unlink(RedisClient& client, const Removal& removal, const std::vector<std::string>& keys) {
  if (keys.empty()) co_return true;
  const std::vector<std::string> arguments{removal.id};
  RepliesPtr replies = co_await run_script(client, unlink_script(), keys, arguments);
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

/// False: somebody else finished the removal.
asio::awaitable<bool> remove_rows(RedisClient& client, const Removal& removal) {
  sql::TableDef table;
  table.prefix = removal.prefix;
  const std::vector<std::string> keys{sql::TableKeys(table).all_rows()};
  const std::vector<std::string> arguments{removal.id, removal.prefix + ":", std::to_string(kStep - 1)};
  while (true) {
    RepliesPtr replies = co_await run_script(client, unlink_rows_script(), keys, arguments);
    if (replies->integer(0) <= 0) co_return replies->integer(0) == 0;
  }
}

asio::awaitable<bool> remove_prefix(RedisClient& client, const Removal& removal) {
  const bool is_ours = co_await remove_rows(client, removal);
  if (!is_ours) co_return false;
  const std::string pattern = removal.prefix + ":*";  // no prefix holds a character that MATCH would interpret
  std::string cursor = "0";
  do {
    CommandBatch batch;
    batch.add("SCAN", cursor, "MATCH", pattern, "COUNT", kStep);
    RepliesPtr replies = co_await client.execute(std::move(batch));
    auto [next, keys] = scan_step(*replies);
    if (!co_await unlink(client, removal, keys)) co_return false;
    cursor = std::move(next);
  } while (cursor != "0");
  co_return true;
}

asio::awaitable<bool> remove_part(RedisClient& client, const Removal& removal, const Removal::Part& part) {
  const sql::TableDef table = table_of(removal, part);
  const sql::TableKeys keys(table);
  std::vector<std::int16_t> columns;
  for (const sql::ColumnDef& column : table.columns) columns.push_back(column.number);

  std::vector<std::string> last;
  switch (part.kind) {
    case Structure::Kind::kZset:
      last.push_back(keys.ordered(columns[0]));
      break;
    case Structure::Kind::kUnique:
      last.push_back(keys.uniques(columns));
      break;
    case Structure::Kind::kNulls:
      last.push_back(keys.null_set(columns[0]));
      break;
    case Structure::Kind::kSets: {
      last.push_back(keys.values(columns));
      std::string cursor = "0";
      do {
        CommandBatch batch;
        batch.add("SSCAN", last[0], cursor, "COUNT", kStep);
        RepliesPtr replies = co_await client.execute(std::move(batch));
        auto [next, entries] = scan_step(*replies);
        std::vector<std::string> sets;
        for (const std::string& entry : entries) sets.push_back(keys.value_set_of_entry(columns, entry));
        if (!co_await unlink(client, removal, sets)) co_return false;
        cursor = std::move(next);
      } while (cursor != "0");
      break;
    }
  }
  co_return co_await unlink(client, removal, last);
}

std::vector<std::string> fields_of(const sql::TableDef& table, const Structure& structure) {
  std::vector<std::string> fields;
  for (std::int16_t number : structure.columns) fields.push_back(table.find_column(number)->field);
  return fields;
}

}  // namespace

Removal removal_of_table(const sql::TableDef& table) { return {random_version(), table.prefix, true, {}}; }

Removal removal_of_structures(const sql::TableDef& table, const std::vector<Structure>& structures) {
  Removal removal{random_version(), table.prefix, false, {}};
  for (const Structure& structure : structures) removal.parts.push_back({structure.kind, fields_of(table, structure)});
  return removal;
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
      if (kind < 0 || kind > static_cast<std::int64_t>(Structure::Kind::kNulls)) throw std::out_of_range("kind");
      Removal::Part part{static_cast<Structure::Kind>(kind), {}};
      for (const json::value& field : element.as_object().at("fields").as_array()) part.fields.push_back(string(field));
      if (part.fields.empty()) throw std::out_of_range("fields");
      removal.parts.push_back(std::move(part));
    }
    if (const json::value* owner = object.if_contains("owner")) removal.owner = string(*owner);
    if (removal.prefix.empty()) throw std::out_of_range("prefix");
    return removal;
  } catch (const std::exception&) {
    throw sql::SqlError("XX001", "an entry of redquel:removals cannot be read");
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
  bool is_ours = true;
  if (removal.whole) {
    is_ours = co_await remove_prefix(client, removal);
  } else {
    for (const Removal::Part& part : removal.parts) {
      is_ours = co_await remove_part(client, removal, part);
      if (!is_ours) break;
    }
  }
  if (!is_ours) co_return;
  const std::vector<std::string> keys;
  const std::vector<std::string> arguments{removal.id, removal.whole ? removal.prefix : std::string()};
  RepliesPtr replies = co_await run_script(client, finish_script(), keys, arguments);
  replies->checked(0);
}

}  // namespace redquel::executor
