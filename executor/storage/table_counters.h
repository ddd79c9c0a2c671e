#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/index_checker.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Returns true if the text is a number that a counter may hold: not negative, and far from the end of 64 bits. The
/// write scripts have the same rule.
bool is_count(std::string_view text);

/// Returns the differences ("counter") of what redquel counts for a table: its changes, and its hidden keys, which must
/// not begin again before the last row. `expected` is the key of the last row, or nothing. `table`: one that has rows
/// (sql::stored_tables).
asio::awaitable<std::vector<IndexDifference>> check_counters(RedisClient& client, const sql::CatalogSnapshot& catalog,
                                                             std::shared_ptr<const sql::TableDef> table);

}  // namespace redquel::executor
