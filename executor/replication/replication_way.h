#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "executor/redis/client.h"
#include "executor/redis/shared_connection.h"

namespace redquel::executor {

/// The way to Redis of the replication of one logical database. It outlives what it makes.
struct ReplicationWay {
  asio::any_io_executor executor;
  ConnectionOptions options;
  RedisClient* client = nullptr;  // of the logical database
  int database = 0;
};

}  // namespace redquel::executor
