#include "server/status/status_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "server/status/metrics.h"
#include "server/status/readiness.h"
#include "sql/ascii.h"

namespace redquel::server {

namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;
using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

constexpr std::size_t kMostConnections = 32;
constexpr std::uint32_t kHeaderBytes = 8 * 1024;
constexpr auto kRequestTime = std::chrono::seconds(5);
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the host of "host:port" or "[address]:port".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, std::min(host.find(']'), host.size()) - 1);
  const std::size_t colon = host.rfind(':');
  return host.find(':') == colon ? host.substr(0, colon) : host;
}

std::vector<tcp::endpoint> endpoints_of(asio::io_context& context, const ListenAddress& address) {
  std::vector<tcp::endpoint> endpoints;
  if (address.host == "*") return {{tcp::v6(), address.port}, {tcp::v4(), address.port}};
  boost::system::error_code failure;
  for (const auto& found : tcp::resolver(context).resolve(address.host, std::to_string(address.port), failure)) endpoints.push_back(found.endpoint());
  if (failure) throw std::runtime_error(fmt::format("status.listen: {}: {}", address.host, failure.message()));
  return endpoints;
}

}  // namespace

class StatusServer::Acceptor {
 public:
  Acceptor(Options options, const ServerCounts& counts) : options_(std::move(options)), counts_(counts) {
    for (const ListenAddress& address : options_.listen) {
      for (const tcp::endpoint& endpoint : endpoints_of(context_, address)) listen(endpoint);
    }
    for (const ListenAddress& address : options_.listen) options_.hosts.push_back(address.host);
  }
  ~Acceptor() { stop(); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  void start() {
    for (tcp::acceptor& acceptor : acceptors_) {
      asio::co_spawn(context_, accept_forever(acceptor), asio::detached);
      const tcp::endpoint end = acceptor.local_endpoint();
      spdlog::info("metrics and health at http://{}:{}", end.address().is_v6() ? "[" + end.address().to_string() + "]" : end.address().to_string(), end.port());
    }
    thread_ = std::thread([this] { context_.run(); });
  }
  void stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void listen(const tcp::endpoint& endpoint) {
    try {
      tcp::acceptor acceptor(context_);
      acceptor.open(endpoint.protocol());
      acceptor.set_option(tcp::acceptor::reuse_address(true));
      if (endpoint.protocol() == tcp::v6()) acceptor.set_option(asio::ip::v6_only(true));
      acceptor.bind(endpoint);
      acceptor.listen();
      acceptors_.push_back(std::move(acceptor));
    } catch (const boost::system::system_error& error) {
      throw std::runtime_error(fmt::format("status.listen: {} port {}: {}", endpoint.address().to_string(), endpoint.port(), error.code().message()));
    }
  }

  asio::awaitable<void> accept_forever(tcp::acceptor& acceptor) {
    while (true) {
      auto [failure, socket] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
      if (failure || open_ >= kMostConnections) {
        // Too many are open, or descriptors are short: the next attempt waits.
        asio::steady_timer pause(context_, std::chrono::milliseconds(100));
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      asio::co_spawn(context_, serve(std::move(socket)), asio::detached);
    }
  }

  asio::awaitable<void> serve(tcp::socket socket) {
    ++open_;
    try {
      boost::beast::tcp_stream stream(std::move(socket));
      boost::beast::flat_buffer buffer(kHeaderBytes);
      while (true) {
        stream.expires_after(kRequestTime);
        http::request_parser<http::empty_body> parser;
        parser.header_limit(kHeaderBytes);
        co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
        Response response = answer(parser.get());
        const bool stays = response.keep_alive();
        co_await http::async_write(stream, response, asio::use_awaitable);
        if (!stays) break;
      }
      boost::system::error_code ignored;
      stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
    } catch (const std::exception& error) {
      spdlog::debug("status: {}", error.what());
    }
    --open_;
  }

  /// Returns true for an address, localhost, and the names that the configuration allows.
  bool is_known_host(std::string_view host) const {
    const std::string name = sql::lower_case(without_port(host));
    boost::system::error_code failure;
    asio::ip::make_address(name, failure);
    return !failure || name == "localhost" || std::ranges::any_of(options_.hosts, [&](const std::string& known) { return sql::lower_case(known) == name; });
  }

  Response answer(const Request& request) const {
    Response response;
    response.version(request.version());
    response.keep_alive(request.keep_alive());
    response.set(http::field::cache_control, "no-store");
    response.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    response.set("X-Content-Type-Options", "nosniff");
    const std::string_view target(request.target().data(), std::min(request.target().find('?'), request.target().size()));
    const auto host = request[http::field::host];
    const auto plain = [&](http::status status, std::string text) { fill(response, status, "text/plain; charset=utf-8", std::move(text)); };
    if (!is_known_host({host.data(), host.size()})) {
      plain(http::status::misdirected_request, "unknown host: status.hosts names those that are served\n");
    } else if (request.method() != http::verb::get && request.method() != http::verb::head) {
      response.set(http::field::allow, "GET, HEAD");
      plain(http::status::method_not_allowed, "only GET and HEAD\n");
    } else if (target == "/metrics") {
      fill(response, http::status::ok, kMetricsType, metrics_text(counts_, options_.max_sessions));
    } else if (target == "/health/live") {
      const bool is_live = readiness_of(counts_).is_live;
      fill(response, is_live ? http::status::ok : http::status::service_unavailable, "application/json",
           boost::json::serialize(boost::json::object{{"live", is_live}}) + "\n");
    } else if (target == "/health/ready") {
      const Readiness readiness = readiness_of(counts_);
      boost::json::array reasons;
      for (const std::string_view reason : readiness.reasons) reasons.emplace_back(boost::json::string_view(reason.data(), reason.size()));
      const bool is_ready = readiness.reasons.empty();
      fill(response, is_ready ? http::status::ok : http::status::service_unavailable, "application/json",
           boost::json::serialize(boost::json::object{{"ready", is_ready}, {"reasons", std::move(reasons)}}) + "\n");
    } else {
      plain(http::status::not_found, "not found; there are /metrics, /health/live and /health/ready\n");
    }
    response.content_length(response.body().size());
    if (request.method() == http::verb::head) response.body().clear();
    return response;
  }

  static void fill(Response& response, http::status status, const char* type, std::string text) {
    response.result(status);
    response.set(http::field::content_type, type);
    response.body() = std::move(text);
  }

  Options options_;
  const ServerCounts& counts_;
  asio::io_context context_{1};
  std::vector<tcp::acceptor> acceptors_;
  std::size_t open_ = 0;
  std::thread thread_;
};

StatusServer::StatusServer(Options options, const ServerCounts& counts) : acceptor_(std::make_unique<Acceptor>(std::move(options), counts)) {}
StatusServer::~StatusServer() = default;
void StatusServer::start() { acceptor_->start(); }
void StatusServer::stop() { acceptor_->stop(); }

}  // namespace redquel::server
