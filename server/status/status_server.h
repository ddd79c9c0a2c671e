#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "server/listeners.h"
#include "server/statistics/server_counts.h"

namespace redquel::server {

/// HTTP on a thread of its own: /metrics, /health/live and /health/ready. It only reads. Requests have at most 8 kB of header and five
/// seconds, and at most 32 connections are open.
class StatusServer {
 public:
  struct Options {
    std::vector<ListenAddress> listen;
    std::vector<std::string> hosts;  // names that a request's Host may have, beside addresses, localhost and the names of `listen`
    std::size_t max_sessions = 0;    // for redquel_sessions_max
  };

  /// Binds and listens. Throws std::runtime_error for the person at the keyboard.
  StatusServer(Options options, const ServerCounts& counts);
  ~StatusServer();
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

  void start();
  void stop();

 private:
  class Acceptor;
  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace redquel::server
