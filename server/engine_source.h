#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "executor/engine/engine.h"
#include "executor/redis/redis_login.h"
#include "executor/redis/shared_connection.h"
#include "executor/replication/replication_way.h"
#include "executor/roles/login_role.h"
#include "sql/error.h"

namespace redquel::sql {
class MemoryReserve;
}

namespace redquel::server {

namespace asio = boost::asio;

/// Bytes that Redis uses, and may use; 0: without a limit. And its replicas.
struct RedisMemory {
  std::uint64_t used = 0, most = 0;
  std::optional<std::uint64_t> replicas = {};  // connected to it; nullopt: Redis does not say
};

/// The engines of one thread, one per database, shared by the sessions there. Used from its io_context only.
class EngineSource {
 public:
  virtual ~EngineSource() = default;
  /// The engine of a database, made at first use. Throws 3D000 for an unknown one, 08006 without Redis.
  virtual asio::awaitable<std::shared_ptr<executor::Engine>> open(std::string database) = 0;
  /// Returns the way to the changes of a database. Throws 3D000 for an unknown one; 0A000.
  virtual asio::awaitable<executor::ReplicationWay> replication(std::string database) {
    static_cast<void>(database);
    throw sql::not_supported("replication");
    co_return executor::ReplicationWay{};
  }
  /// Reads what the home database knows of a role that logs in to a database. Throws 08006 without Redis.
  virtual asio::awaitable<executor::LoginFacts> login_facts(std::string role, std::string database) = 0;
  /// Asks the home database for a sign of life. Throws 08006, and what a server answers that is not ready.
  virtual asio::awaitable<void> ping() { co_return; }
  /// Asks Redis for its memory. Returns nullopt if that may not be asked, or if Redis does not show it.
  virtual asio::awaitable<std::optional<RedisMemory>> redis_memory() { co_return std::nullopt; }
  /// Returns the counters of the thread's connections to Redis since its start.
  virtual executor::ConnectionStatistics redis_statistics() const { return {}; }
  /// Returns what holds memory that sessions may need more; shared by all threads. Null: nothing does.
  virtual sql::MemoryReserve* memory_reserve() { return nullptr; }
  /// Connections to Redis that are made from now on log in so.
  virtual void change_login(const executor::RedisLogin& login) { static_cast<void>(login); }
  /// Answers what other processes over the same Redis ask about sessions, and takes a number for the process that none of them has. For one thread
  /// of the process. Returns 0 without Redis.
  virtual asio::awaitable<std::int32_t> join_processes() { co_return 0; }
  /// The sessions are gone: lets go of connections, so that the io_context runs dry.
  virtual void stop() {}
};

/// Makes a thread's engines; called once per thread, before the thread runs.
using EngineSourceFactory = std::function<std::unique_ptr<EngineSource>(asio::io_context&)>;

}  // namespace redquel::server
