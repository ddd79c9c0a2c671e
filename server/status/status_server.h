#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "executor/tls/tls_context.h"
#include "server/listeners.h"
#include "server/statistics/server_counts.h"
#include "server/status/page_api.h"

namespace redquel::server {

/// HTTP on a thread of its own: /metrics, /health/live, /health/ready, and the status page with its console. Requests have at most 8 kB of
/// header, 1 MB of body and five seconds to come, and at most 32 connections are open: then the oldest unfinished request of the address with
/// most connections yields to a new one. A connection whose first byte begins a TLS handshake is encrypted. The page's figures and its console are for requests that bear a token (page_token.h) and come from this machine or by TLS.
class StatusServer {
 public:
  struct Options {
    std::vector<ListenAddress> listen;
    std::vector<std::string> hosts;  // names that a request's Host may have, beside addresses, localhost and the names of `listen`
    std::size_t max_sessions = 0;    // for redquel_sessions_max
    std::filesystem::path token_file;  // empty: there is no page, unless it is shown
    bool shows_page = false;  // with tokens of this process, in an address that the log names: for a start at a terminal
    OpenInside open_inside;
    executor::TlsContextPtr tls;  // null: connections are not encrypted
  };

  /// Binds and listens, and makes the file of the tokens. Throws std::runtime_error for the person at the keyboard.
  StatusServer(Options options, const ServerCounts& counts);
  ~StatusServer();
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

  void start();
  void stop();
  /// The next connections use this context. Any thread may call.
  void set_tls(executor::TlsContextPtr tls);

 private:
  class Acceptor;
  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace redquel::server
