#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Returns the error XX001 that names the key of another type and the statement that mends it. Looks at the structures, and at up to
/// 20,000 rows and values, of each table; if none of them is of another type, returns `error`.
asio::awaitable<sql::SqlError> named_wrong_type(RedisClient& client, sql::CatalogPtr catalog,
                                                std::vector<std::shared_ptr<const sql::TableDef>> tables, sql::SqlError error);

}  // namespace redquel::executor
