#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "executor/redis/client.h"
#include "sql/column.h"

namespace redquel::executor {

/// Returns the rows of pg_replication_slots: the slots of one logical database. `database`: its name.
asio::awaitable<sql::Batch> replication_slot_rows(RedisClient& client, std::string database);

}  // namespace redquel::executor
