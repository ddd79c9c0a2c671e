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

asio::awaitable<std::optional<UniqueValuesCheck::Row>> UniqueValuesCheck::read_row(std::string member) {
  try {
    CommandBatch fetch;
    rows_.append_fetch(fetch, member);
    const RepliesPtr replies = co_await client_.execute(std::move(fetch));
    if (!(*replies)[0].is_error()) co_return rows_.decode(member, replies->array(0));
  } catch (const sql::SqlError& error) {
    if (error.sqlstate() == sqlstate::kConnectionFailure) throw;  // else it is no member of the table, or no row
  }
  co_return std::nullopt;
}

asio::awaitable<std::optional<std::string>> UniqueValuesCheck::owner_of(Place place) {
  CommandBatch look;
  look.add("HGET", place.key, place.field);
  const RepliesPtr replies = co_await client_.execute(std::move(look));
  if ((*replies)[0].is_error()) co_return std::nullopt;  // a key of another type
  const std::optional<std::string_view> owner = replies->text(0);
  co_return owner ? std::optional(std::string(*owner)) : std::nullopt;
}

std::optional<UniqueValuesCheck::Place> UniqueValuesCheck::place_of(const Row& row, std::size_t number) const {
  Words words;
  const RowImage image = encoder_.encode(row, words);
  const auto entry = RowEncoder::entry(words, image, number);
  if (is_null(entry.first)) return std::nullopt;
  return Place{std::string(RowEncoder::unique_key(encoder_.structures()[number], entry)), std::string(entry.first)};
}

asio::awaitable<std::optional<IndexDifference>> UniqueValuesCheck::check_entry(std::string key, std::size_t number, std::string field, std::string owner) {
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) co_await pause();
    Place entry{key, field};
    const std::optional<std::string> now = co_await owner_of(std::move(entry));
    if (now != owner) co_return std::nullopt;  // gone meanwhile
    const std::optional<Row> row = co_await read_row(owner);
    const std::optional<Place> place = row ? place_of(*row, number) : std::nullopt;
    if (place && place->key == key && place->field == field) co_return std::nullopt;
  }
  co_return IndexDifference{"unique", std::move(key), field, std::move(owner), std::nullopt, field};
}

asio::awaitable<std::vector<IndexDifference>> UniqueValuesCheck::check_row(std::string member) {
  std::vector<IndexDifference> differences;
  for (std::size_t number = 0; number < encoder_.structures().size(); ++number) {
    const RowEncoder::StructureKeys& structure = encoder_.structures()[number];
    if (!RowEncoder::lies_by_value(structure) || !structure.structure.readable) continue;
    std::optional<IndexDifference> difference;
    for (int look = 0; look < kLooks; ++look) {
      if (look > 0) co_await pause();
      const std::optional<Row> row = co_await read_row(member);
      const std::optional<Place> place = row ? place_of(*row, number) : std::nullopt;
      difference.reset();
      if (!place) break;
      Place entry = *place;
      std::optional<std::string> owner = co_await owner_of(std::move(entry));
      if (owner == member) break;
      difference = IndexDifference{"unique", place->key, place->field, std::move(owner), member, {}};
    }
    if (difference) differences.push_back(*std::move(difference));
  }
  co_return differences;
}

}  // namespace redquel::executor
