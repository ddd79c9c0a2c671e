#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

// In a cluster each bucket that may hold tables has a copy of `redquel:version`, so that a read at any node shows whether definitions have
// changed. The one of the home bucket counts. A change of definitions sets all copies before it removes keys.

/// Returns the buckets that may hold tables, spread evenly over the slots; the home bucket is the first one.
const std::vector<int>& placement_buckets();

/// Returns the tags of these buckets. One Redis: one empty tag.
const std::vector<std::string>& placement_tags();

/// Returns the tags of the buckets that hold tables or sequences of the catalog, and that of the home bucket. One Redis: one empty tag.
std::vector<std::string> tags_in_use(const sql::CatalogSnapshot& catalog);

/// Makes all copies equal to the version in the home bucket. Call it after a change of that version and before keys are removed; and a process that
/// loads definitions calls it for processes that were killed in between.
asio::awaitable<void> publish_version(RedisClient& client);

/// Sets a fresh version, so that all processes load the definitions again. Without effect on one Redis.
asio::awaitable<void> renew_version(RedisClient& client);

}  // namespace redquel::executor
