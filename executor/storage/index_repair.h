#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/error.h"
#include "sql/session_settings.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Takes a WARNING about something that a repair has left as it is.
using TakeWarning = std::function<void(sql::SqlError)>;

/// Repairs the index entries and counters of the table to match its rows, also if other programs changed the rows. Each
/// difference that the index checker finds is removed by a script that reads the row again. Other sessions may read and
/// write meanwhile, and a killed process leaves no more differences than before. An entry of a unique value goes only
/// if no row has the value, and changes its owner in one step, so no value is free in between. Keys that belong to no
/// structure stay. Passes a warning for each row that cannot be read. Throws, after everything else is repaired, 23505
/// `could not create unique index "x"` if two rows have one value of a unique index, 40001 if rows change all the time.
asio::awaitable<void> repair_indexes(RedisClient& client, sql::CatalogPtr catalog,
                                     std::shared_ptr<const sql::TableDef> table, sql::SessionSettings settings,
                                     TakeWarning warn);

}  // namespace redquel::executor
