#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/engine_source.h"
#include "server/authentication/login_policy.h"
#include "server/listeners.h"
#include "server/reloadable.h"
#include "server/supervisor.h"
#include "sql/memory_account.h"

namespace redquel::server {

struct ServerOptions : Reloadable {
  std::vector<ListenAddress> listen = {{"127.0.0.1", 5433}};
  UnixSocketOptions unix_sockets;
  /// Listening sockets in place of both, by their descriptors; empty: none.
  std::vector<int> passed_sockets;
  bool reuse_port = false;  // of `listen`
  /// Told about the start, the end, and that all is well; null: none. It outlives the server.
  const Supervisor* supervisor = nullptr;
  /// Between a signal that ends the server and the moment from which it accepts nothing.
  std::chrono::milliseconds drain_delay{0};
  /// Decides who may log in, and whether the server may listen beyond loopback; null: a new one that knows nothing of Redis.
  std::shared_ptr<LoginPolicy> logins;
  std::size_t threads = 0;         // 0: one per core
  std::size_t max_connections = 5000;
  std::size_t reserved_connections = 3;  // of max_connections, for superusers
  std::size_t max_startups = 200;    // connections that have not logged in; beyond them silent ones are closed
  std::size_t wrong_cancels = 20;    // of one address in a second; further ones are dropped
  /// Without a bound for the process.
  sql::MemoryLimits memory = {.process = SIZE_MAX / 4, .session = std::size_t{2} << 30, .clients = std::size_t{1} << 30};
  std::chrono::milliseconds drain_time{10000};
  /// The addresses of /metrics and /health; empty: none. `status_hosts`: names that requests may use beside addresses and localhost.
  std::vector<ListenAddress> status_listen;
  std::vector<std::string> status_hosts;
  bool shows_page = false;  // see StatusServer::Options
  std::filesystem::path status_token_file;  // of the status page; empty: there is no page
  /// SIGTERM and SIGINT end the server, SIGHUP reloads the configuration.
  bool handle_signals = false;
  /// Reads the configuration again, for SIGHUP and pg_reload_conf(). nullopt: it is wrong, or there is none; everything stays as it is.
  std::function<std::optional<Reloadable>()> reload;
};

/// The PostgreSQL server: its listeners and worker threads.
class Server {
 public:
  /// Binds and listens. Throws std::runtime_error with a message for the person at the keyboard: no such address, in
  /// use, or not of this machine alone (without authentication only local clients are trusted).
  Server(ServerOptions options, const EngineSourceFactory& engines);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// "127.0.0.1:5433", with the real port; of the first address.
  std::string address() const;
  std::uint16_t port() const;

  /// Serves until `stop` or a signal, on threads of its own and the calling one. `ready` is called once clients are
  /// accepted. False: statements could not be ended, and the process should not wait for them.
  bool run(const std::function<void()>& ready = {});
  /// From any thread: ends `run` when the running statements are done, or their time is over.
  void stop();

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

/// Raises the limit of file descriptors as far as the system allows. Returns the limit.
std::size_t raise_descriptor_limit();
/// Returns the number of client connections for which so many descriptors are enough.
std::size_t possible_connections(std::size_t descriptors, std::size_t max_startups);

}  // namespace redquel::server
