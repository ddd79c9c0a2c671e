#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/index_checker.h"
#include "executor/storage/row_image.h"
#include "executor/storage/stored_row.h"

namespace redquel::executor {

/// The check of unique values that lie by value (sql/catalog/spread_table.h) in one part of a table. An entry and its row are in two buckets, and are
/// not read at one moment: a commit may be applied in one of them and not yet in the other one. So a difference counts if it stays for some looks.
class UniqueValuesCheck {
 public:
  UniqueValuesCheck(RedisClient& client, const sql::CatalogSnapshot& catalog, std::shared_ptr<const sql::TableDef> table);

  struct Entry {
    std::string field, owner;
  };
  /// Returns the differences of entries whose owners have no such value. `number`: of the structure; `key`: of its
  /// hash.
  asio::awaitable<std::vector<IndexDifference>> check_entries(std::string key, std::size_t number,
                                                              std::vector<Entry> entries);
  /// Returns the differences of rows whose values have no entry, or another owner.
  asio::awaitable<std::vector<IndexDifference>> check_rows(std::vector<std::string> members);

 private:
  struct Place {
    std::string key, field;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// Where a row has its entries, by structure; nullopt: it has none there. Empty: there is no such row, or it cannot
  /// be read, which is reported elsewhere.
  using Places = std::vector<std::optional<Place>>;

  /// Returns the places of rows of any part.
  asio::awaitable<std::vector<Places>> places_of_rows(std::vector<std::string> members);
  /// Returns the owner at each place.
  asio::awaitable<std::vector<std::optional<std::string>>> owners_at(std::vector<Place> places);
  /// Returns the places of one row.
  Places places_of(const std::vector<sql::Datum>& row) const;

  RedisClient& client_;
  RowEncoder encoder_;
  StoredRows rows_;  // of all parts
};

}  // namespace redquel::executor
