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

  /// Returns the difference of an entry whose owner has no such value. `number`: of the structure; `key`: of its hash.
  asio::awaitable<std::optional<IndexDifference>> check_entry(std::string key, std::size_t number, std::string field, std::string owner);
  /// Returns the differences of a row whose values have no entry, or another owner.
  asio::awaitable<std::vector<IndexDifference>> check_row(std::string member);

 private:
  using Row = std::vector<sql::Datum>;
  struct Place {
    std::string key, field;
  };
  /// Reads a row of any part. Nullopt: there is none, or it cannot be read, which is reported elsewhere.
  asio::awaitable<std::optional<Row>> read_row(std::string member);
  asio::awaitable<std::optional<std::string>> owner_of(Place place);
  /// Returns where the row has its entry; nullopt: it has none.
  std::optional<Place> place_of(const Row& row, std::size_t number) const;

  RedisClient& client_;
  RowEncoder encoder_;
  StoredRows rows_;  // of all parts
};

}  // namespace redquel::executor
