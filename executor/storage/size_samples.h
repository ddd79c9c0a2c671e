#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/relation_sizes.h"

namespace redquel::executor {

// Sizes by samples of MEMORY USAGE: of 20 rows of a table, of 20 values of an index, of 50 keys of a database. What Redis refuses to show is
// left out. The commands only read and take a few microseconds each; those of a table are some fifty.

/// Estimates the bytes of all managed tables, their indexes and sequences, and, if asked for, of each database of this Redis. Redis's own
/// figure of the bytes of its data, where it shows that, is divided by the samples of databases: it is exact if only one of them has keys.
/// `client`: to the database of the catalog; `home`: to the one where the list of databases lies.
asio::awaitable<sql::RelationSizes> sample_sizes(RedisAccess& access, RedisClient& home, RedisClient& client, const sql::CatalogSnapshot& catalog,
                                                 sql::SizesAsked asked);

}  // namespace redquel::executor
