#include "executor/storage/value_list_check.h"

#include <algorithm>
#include <optional>

#include "executor/redis/redis_error.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kListPage = 200;

/// Returns the key of a listed value; nullopt if no value of these columns is written so.
std::optional<std::string> key_of_listed(const sql::StructureKind& kind, const sql::TableKeys& keys,
                                         const std::vector<std::int16_t>& columns, std::string_view entry) {
  try {
    return kind.value_key(keys, columns, entry);
  } catch (const sql::SqlError&) {
    return std::nullopt;
  }
}

/// Returns the values behind escaped segments; nullopt if another program wrote these.
std::optional<std::vector<std::string>> unescaped(const std::vector<std::string_view>& segments) {
  std::vector<std::string> values;
  try {
    for (const std::string_view segment : segments) values.push_back(sql::unescape_segment(segment));
  } catch (const sql::SqlError&) {
    return std::nullopt;
  }
  return values;
}

}  // namespace

asio::awaitable<sql::MemberEnds> ValueListCheck::ends_of_set(std::string key, sql::KeyRole role) {
  const sql::TableKeys keys(*table_);
  const std::vector<std::int16_t>& columns = role.columns;
  if (std::ranges::none_of(role.segments, [](const std::string& segment) { return sql::is_hashed_segment(segment); })) {
    const std::optional<std::vector<std::string>> values = unescaped({role.segments.begin(), role.segments.end()});
    co_return values ? sql::member_ends(*table_, columns, *values) : sql::MemberEnds();
  }
  std::string cursor = "0";
  do {
    CommandBatch scan;
    scan.add("SSCAN", keys.values(columns), cursor, "COUNT", kListPage);
    RepliesPtr replies = co_await client_.execute(std::move(scan));
    if ((*replies)[0].is_error()) break;
    const std::span<const Reply> parts = replies->array(0);
    if (parts.size() != 2) throw unexpected_reply("SSCAN", "a cursor and elements");
    for (const Reply& entry : parts[1].children()) {
      if (key_of_listed(*role.structure, keys, columns, entry.text) != key) continue;
      std::optional<std::vector<std::string>> values{{std::string(entry.text)}};
      if (columns.size() > 1) values = unescaped(sql::split_segments(entry.text));
      if (values) co_return sql::member_ends(*table_, columns, *values);
    }
    cursor = std::string(parts[0].text);
  } while (cursor != "0");
  co_return sql::MemberEnds{};
}

asio::awaitable<std::vector<IndexDifference>> ValueListCheck::values_without_set(std::string key, const sql::StructureKind* kind,
                                                                                 std::vector<std::int16_t> columns,
                                                                                 std::string& cursor) {
  std::vector<IndexDifference> differences;
  const sql::TableKeys keys(*table_);
  CommandBatch scan;
  scan.add("SSCAN", key, cursor, "COUNT", kListPage);
  const RepliesPtr scanned = co_await client_.execute(std::move(scan));
  cursor = "0";
  if ((*scanned)[0].is_error()) {
    differences.push_back({"values", key, "", std::string((*scanned)[0].text), std::nullopt, std::nullopt, true});
    co_return differences;
  }
  const std::span<const Reply> parts = scanned->array(0);
  if (parts.size() != 2) throw unexpected_reply("SSCAN", "a cursor and elements");
  cursor = std::string(parts[0].text);
  const std::span<const Reply> entries = parts[1].children();
  CommandBatch batch;
  std::vector<bool> may_have_set;
  for (const Reply& entry : entries) {
    const std::optional<std::string> set = key_of_listed(*kind, keys, columns, entry.text);
    may_have_set.push_back(set.has_value());
    batch.add("SISMEMBER", key, entry.text);
    if (set) batch.add("EXISTS", *set);
  }
  const RepliesPtr replies = co_await client_.execute_atomic(std::move(batch));
  std::size_t reply = 0;
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const bool is_listed = replies->integer(reply++) == 1;
    const bool has_set = may_have_set[index] && replies->integer(reply++) == 1;
    if (is_listed && !has_set)
      differences.push_back({"values", key, std::string(entries[index].text), "1", std::nullopt});
  }
  co_return differences;
}

}  // namespace redquel::executor
