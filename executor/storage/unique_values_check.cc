#include "executor/storage/unique_values_check.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr int kLooks = 4;
constexpr auto kPause = std::chrono::milliseconds(50);

/// Waits for the commits that are being applied.
asio::awaitable<void> pause() {
  asio::steady_timer timer(co_await asio::this_coro::executor, kPause);
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace

UniqueValuesCheck::UniqueValuesCheck(RedisClient& client, const sql::CatalogSnapshot& catalog, std::shared_ptr<const sql::TableDef> table)
    : client_(client), encoder_(table), rows_(table->part_of != 0 ? catalog.find_table(table->part_of) : table) {}

asio::awaitable<std::vector<UniqueValuesCheck::Places>> UniqueValuesCheck::places_of_rows(
    std::vector<std::string> members) {
  CommandBatch fetch;
  std::vector<bool> is_asked;
  for (const std::string& member : members) {
    try {
      rows_.append_fetch(fetch, member);
      is_asked.push_back(true);
    } catch (const sql::SqlError&) {  // no member of the table
      is_asked.push_back(false);
    }
  }
  const RepliesPtr replies = co_await client_.execute(std::move(fetch));
  std::vector<Places> places(members.size());
  std::size_t reply = 0;
  for (std::size_t index = 0; index < members.size(); ++index) {
    if (!is_asked[index]) continue;
    const Reply& values = (*replies)[reply++];
    if (values.is_error()) continue;
    try {
      const auto row = rows_.decode(members[index], values.children());
      if (row) places[index] = places_of(*row);
    } catch (const sql::SqlError&) {  // a row that cannot be read
    }
  }
  co_return places;
}

asio::awaitable<std::vector<std::optional<std::string>>> UniqueValuesCheck::owners_at(std::vector<Place> places) {
  CommandBatch look;
  for (const Place& place : places) look.add("HGET", place.key, place.field);
  const RepliesPtr replies = co_await client_.execute(std::move(look));
  std::vector<std::optional<std::string>> owners;
  for (const Reply& reply : replies->all()) {
    owners.push_back(reply.is_text() ? std::optional(std::string(reply.text))
                                     : std::nullopt);  // (an error: a key of another type)
  }
  co_return owners;
}

UniqueValuesCheck::Places UniqueValuesCheck::places_of(const std::vector<sql::Datum>& row) const {
  Words words;
  const RowImage image = encoder_.encode(row, words);
  Places places;
  for (std::size_t number = 0; number < encoder_.structures().size(); ++number) {
    const auto entry = RowEncoder::entry(words, image, number);
    places.emplace_back();
    if (is_null(entry.first)) continue;
    places.back() =
        Place{std::string(RowEncoder::unique_key(encoder_.structures()[number], entry)), std::string(entry.first)};
  }
  return places;
}

asio::awaitable<std::vector<IndexDifference>> UniqueValuesCheck::check_entries(std::string key, std::size_t number,
                                                                               std::vector<Entry> entries) {
  for (int look = 0; look < kLooks && !entries.empty(); ++look) {
    if (look > 0) co_await pause();
    std::vector<Place> places;
    std::vector<std::string> members;
    for (const Entry& entry : entries) {
      places.push_back({key, entry.field});
      members.push_back(entry.owner);
    }
    std::vector<Place> asked = places;
    const std::vector<std::optional<std::string>> owners = co_await owners_at(std::move(asked));
    const std::vector<Places> of_rows = co_await places_of_rows(std::move(members));
    std::vector<Entry> wrong;
    for (std::size_t index = 0; index < entries.size(); ++index) {
      const bool is_there = owners[index] == entries[index].owner;  // else it has gone meanwhile
      const bool is_right = !of_rows[index].empty() && of_rows[index][number] == places[index];
      if (is_there && !is_right) wrong.push_back(std::move(entries[index]));
    }
    entries = std::move(wrong);
  }
  std::vector<IndexDifference> differences;
  for (Entry& entry : entries)
    differences.push_back({"unique", key, entry.field, std::move(entry.owner), std::nullopt, entry.field});
  co_return differences;
}

asio::awaitable<std::vector<IndexDifference>> UniqueValuesCheck::check_rows(std::vector<std::string> members) {
  std::vector<IndexDifference> differences;
  for (int look = 0; look < kLooks && !members.empty(); ++look) {
    if (look > 0) co_await pause();
    std::vector<std::string> read = members;
    const std::vector<Places> of_rows = co_await places_of_rows(std::move(read));
    std::vector<Place> places;
    std::vector<std::size_t> rows;
    for (std::size_t index = 0; index < members.size(); ++index) {
      for (std::size_t number = 0; number < of_rows[index].size(); ++number) {
        const RowEncoder::StructureKeys& structure = encoder_.structures()[number];
        if (!RowEncoder::lies_by_value(structure) || !structure.structure.readable || !of_rows[index][number]) continue;
        places.push_back(*of_rows[index][number]);
        rows.push_back(index);
      }
    }
    std::vector<Place> asked = places;
    std::vector<std::optional<std::string>> owners = co_await owners_at(std::move(asked));
    differences.clear();
    std::vector<std::string> wrong;
    for (std::size_t index = 0; index < places.size(); ++index) {
      const std::string& member = members[rows[index]];
      if (owners[index] == member) continue;
      if (wrong.empty() || wrong.back() != member) wrong.push_back(member);
      differences.push_back({"unique", places[index].key, places[index].field, std::move(owners[index]), member});
    }
    members = std::move(wrong);
  }
  co_return differences;
}

}  // namespace redquel::executor
