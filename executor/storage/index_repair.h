#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/session_settings.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Repairs the index entries of the table to match its rows, also if other programs changed the rows. Each difference that the index
/// checker finds is removed by a script that reads the row again. Other sessions may read and write meanwhile, and a killed process leaves
/// no more differences than before. Keys that belong to no structure stay. Throws 23505 `could not create unique index "x"` if two rows
/// have one value of a unique index, 40001 if rows change all the time.
asio::awaitable<void> repair_indexes(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table,
                                     sql::SessionSettings settings);

}  // namespace redquel::executor
