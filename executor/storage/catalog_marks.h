#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "executor/redis/client.h"
#include "executor/storage/exclusive_tables.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

// What the buckets of a cluster keep beside the definitions: marks of exclusive tables, copies of the version (version_copies.h). A bucket that does
// not answer holds nothing up but its own tables. publish_version() leaves it out: its readers find an old copy when it answers again, and load the
// definitions.

/// Returns the exclusive tables of the catalog, and all tables of buckets that do not answer in time: it is not known whether these are exclusive, so
/// their unit is empty.
asio::awaitable<ExclusiveTables> load_exclusive_tables(RedisClient& client, const sql::CatalogSnapshot& catalog);

/// Waits until the bucket answers if publish_version() has left it out. Call it before keys of the bucket are removed. Throws 57P03.
asio::awaitable<void> publish_version_to(RedisClient& client, std::string tag);

}  // namespace redquel::executor
