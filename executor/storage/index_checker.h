#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// One disagreement between a table's rows and its index entries.
struct IndexDifference {
  std::string
      structure;  // "all rows", "values", "set", "nulls", "ordered", "unique", "row", "counter", "sequence", "unknown"
  std::string key;        // of Redis
  std::string id;         // the row's member; of a values-set the value
  std::optional<std::string> stored, expected;  // nullopt: nothing
  /// An entry of a set or zset that should not be there; the row that misses its value among the "values".
  std::optional<std::string> element = std::nullopt;
  bool is_whole_key = false;  // the key is of another type, or belongs to nothing. `id` is empty, which names a row in
                              // other differences.
};

/// Takes some of the differences while the others are still looked for.
using TakeDifferences = std::function<asio::awaitable<void>(std::vector<IndexDifference>)>;

/// Recomputes every index entry of the table from its rows and looks at every key under its prefix (by SCAN, in bounded steps): rows
/// that no index knows, entries without a row, leftovers of dropped columns and indexes. A row and its entries are read in one
/// transaction before they are reported, so concurrent writers cause no false differences. Stops after `limit` differences.
asio::awaitable<std::vector<IndexDifference>> check_indexes(RedisClient& client, sql::CatalogPtr catalog,
                                                            std::shared_ptr<const sql::TableDef> table,
                                                            std::size_t limit = 1000);

/// Like check_indexes() above, without a limit: passes each difference to `take`.
asio::awaitable<void> check_indexes(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table,
                                    TakeDifferences take);

}  // namespace redquel::executor
