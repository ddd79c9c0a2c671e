#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/session_settings.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Makes the index entries of the table what its rows say, whoever has changed the rows: every difference that the index checker finds
/// is taken away by a script that looks at the row again. Others may read and write meanwhile, and a process that is killed leaves
/// nothing worse than before. Keys that belong to no structure stay. Throws 23505 `could not create unique index "x"` where two rows have
/// one value of a unique index, 40001 where rows change all the time.
asio::awaitable<void> repair_indexes(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table,
                                     sql::SessionSettings settings);

}  // namespace redquel::executor
