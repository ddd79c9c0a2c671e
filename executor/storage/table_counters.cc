#include "executor/storage/table_counters.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kMostDigits = 17;

std::optional<std::int64_t> count_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the hidden key of the last row in all parts of the table; 0: there is none.
asio::awaitable<std::int64_t> last_hidden_key(RedisClient& client, std::shared_ptr<const sql::TableDef> whole) {
  CommandBatch batch;
  for (const auto& stored : sql::stored_tables(whole)) batch.add("ZRANGE", sql::TableKeys(*stored).all_rows(), -1, -1);
  const RepliesPtr replies = co_await client.execute(std::move(batch));
  std::int64_t last = 0;
  for (const Reply& members : replies->all()) {
    for (const Reply& member : members.children()) last = std::max(last, count_of(member.text).value_or(0));
  }
  co_return last;
}

}  // namespace

bool is_count(std::string_view text) {
  const bool is_written_so = text == "0" || !text.starts_with('0');  // else Redis does not add to it
  return is_written_so && !text.empty() && text.size() <= kMostDigits &&
         std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; });
}

asio::awaitable<std::vector<IndexDifference>> check_counters(RedisClient& client, const sql::CatalogSnapshot& catalog,
                                                             std::shared_ptr<const sql::TableDef> table) {
  const sql::TableKeys keys(*table);
  const std::shared_ptr<const sql::TableDef> whole = table->part_of != 0 ? catalog.find_table(table->part_of) : table;
  const bool counts_rows =
      table->has_hidden_key() && sql::any_stored_table(*whole).oid == table->oid;  // (the first part, for all)
  std::int64_t last = 0;
  if (counts_rows) last = co_await last_hidden_key(client, whole);  // before its counter, which only grows
  std::vector<std::string> names{keys.changes()};
  if (counts_rows) names.push_back(sql::TableKeys(*whole).row_counter());
  CommandBatch batch;
  for (const std::string& name : names) {
    batch.add("TYPE", name);
    batch.add("GET", name);
  }
  const RepliesPtr replies = co_await client.execute_atomic(std::move(batch));
  std::vector<IndexDifference> differences;
  for (std::size_t index = 0; index < names.size(); ++index) {
    const std::int64_t least = index == 0 ? 0 : last;
    const Reply& value = (*replies)[2 * index + 1];
    const bool is_number = value.is_text() && is_count(value.text) && count_of(value.text) >= least;
    if (is_number || (value.is_nil() && least == 0)) continue;
    std::optional<std::string> stored, expected;
    if (value.is_text()) stored = std::string(value.text);
    if (value.is_error()) stored = std::string(replies->text(2 * index).value_or(""));
    if (least > 0) expected = std::to_string(least);
    differences.push_back({"counter", names[index], "", std::move(stored), std::move(expected), std::nullopt, true});
  }
  co_return differences;
}

}  // namespace redquel::executor
