#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Returns the error XX001 that names a key which does not hold what redquel needs, and the repair; nullopt if none is
/// found. Looks at the structures and counters of all these tables, at up to 20,000 rows and values of some of them,
/// and at the sequences of the catalog.
asio::awaitable<std::optional<sql::SqlError>> named_bad_key(RedisClient& client, sql::CatalogPtr catalog,
                                                            std::vector<std::shared_ptr<const sql::TableDef>> tables);

/// Like named_bad_key(), for the keys below "redquel:". `home`: the logical database of the URL. The catalog may be
/// null.
asio::awaitable<std::optional<sql::SqlError>> named_bad_own_key(RedisClient& client, RedisClient& home,
                                                                sql::CatalogPtr catalog);

}  // namespace redquel::executor
