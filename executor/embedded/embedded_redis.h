#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/url.h"

namespace redquel::executor {

struct EmbeddedRedisOptions {
  std::filesystem::path data_directory;
  std::string server_program = "redis-server";  // looked up in PATH
  std::string check_program = "redis-check-aof";
  /// Further settings of redis.conf, e.g. {"maxmemory", "2gb"}; they win over those redquel chooses.
  std::vector<std::pair<std::string, std::string>> settings;
  /// The time that the child has to end by itself before it is killed.
  std::chrono::milliseconds shutdown_timeout{30000};
};

/// The redis-server that redquel runs as its child when no address is configured. It listens on a unix socket in the
/// data directory only, keeps an append-only file there, and lives as long as this object.
///
/// Construct it in the main thread before any other thread exists. Throws std::runtime_error with a message for the
/// person at the keyboard: data directory in use (with the pid), not writable, redis-server missing, or its last words.
class EmbeddedRedis {
 public:
  /// Locks the data directory, ends a server that a killed redquel left behind, repairs a torn append-only file, starts
  /// the server and returns when it answers PING, its data loaded.
  explicit EmbeddedRedis(EmbeddedRedisOptions options);
  ~EmbeddedRedis();  // as stop()
  EmbeddedRedis(const EmbeddedRedis&) = delete;
  EmbeddedRedis& operator=(const EmbeddedRedis&) = delete;

  /// From now on a thread of its own restarts the server, with back-off, whenever it dies.
  void supervise();
  /// Ends the server in good order (SIGTERM: it syncs its file) and waits for it. Call it when the sessions are done.
  void stop();

  RedisUrl url() const;
  /// Returns the pid of the running server; 0 between its death and the restart.
  pid_t pid() const;

 private:
  class Supervisor;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace redquel::executor
