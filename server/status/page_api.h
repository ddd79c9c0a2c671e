#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/connection_security.h"
#include "server/statistics/server_counts.h"
#include "server/status/inside_client.h"
#include "server/status/page_data.h"
#include "server/status/page_token.h"

namespace redquel::server {

/// Opens a connection to the server within the process. Returns the client's descriptor. Any thread may call.
using OpenInside = std::function<int(ClientOrigin origin)>;

/// The status page's requests, answered as JSON. Lives on the thread of the status server.
class PageApi {
 public:
  /// A request that cannot be answered, with HTTP's status.
  struct Failure {
    unsigned status = 400;
    std::string message;
  };

  PageApi(OpenInside open, const ServerCounts& counts, std::size_t max_sessions) : open_(std::move(open)), counts_(counts), max_sessions_(max_sessions) {}

  /// The figures of this moment, once a second for each page that is open.
  class Stream {
   public:
    /// Returns the next event's data. Throws Failure.
    asio::awaitable<std::string> next();

   private:
    friend class PageApi;
    explicit Stream(PageApi& api) : api_(api) {}
    PageApi& api_;
    std::unique_ptr<InsideClient> client_;
  };
  Stream stream() { return Stream(*this); }

  /// Answers POST /api/<name> with a JSON object. The arguments outlive the call. Throws Failure.
  asio::awaitable<boost::json::value> answer(const std::string& name, const boost::json::object& request, PageTokens::Right right);

 private:
  using Clock = std::chrono::steady_clock;
  struct Console {
    std::unique_ptr<InsideClient> client;
    PageTokens::Right right = PageTokens::Right::kRead;
    bool is_running = false, is_closed = false;
    Clock::time_point used = Clock::now();
  };

  /// Reads these parts in a session of the page, which counts no statements and is not in the way of those of a console.
  asio::awaitable<boost::json::value> read(const boost::json::object& request, std::span<const PagePart> parts);
  /// The plan of a statement that pg_stat_statements shows, with NULL for its constants.
  asio::awaitable<boost::json::value> plan(const boost::json::object& request);
  asio::awaitable<boost::json::value> open_console(const boost::json::object& request, PageTokens::Right right);
  asio::awaitable<boost::json::value> run(const boost::json::object& request, PageTokens::Right right);
  boost::json::value cancel(const boost::json::object& request, PageTokens::Right right);
  boost::json::value close(const boost::json::object& request, PageTokens::Right right);
  std::shared_ptr<Console> find(const boost::json::object& request, PageTokens::Right right);
  /// Ends consoles that were not used for a while.
  void forget_idle();
  asio::awaitable<std::unique_ptr<InsideClient>> open_reader(const std::string& database);

  OpenInside open_;
  const ServerCounts& counts_;
  std::size_t max_sessions_;
  std::map<std::string, std::shared_ptr<Console>, std::less<>> consoles_;
};

}  // namespace redquel::server
