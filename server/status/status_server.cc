#include "server/status/status_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "server/connection.h"
#include "server/startup_slots.h"
#include "server/status/metrics.h"
#include "server/status/page_files.h"
#include "server/status/readiness.h"
#include "sql/ascii.h"

namespace redquel::server {

namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr std::size_t kMostConnections = 32;
constexpr std::uint32_t kHeaderBytes = 8 * 1024;
constexpr std::uint64_t kBodyBytes = 1 << 20;
constexpr auto kRequestTime = std::chrono::seconds(5);
constexpr auto kStreamPause = std::chrono::seconds(1);
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
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

std::string text_of(const Response& response) {
  std::ostringstream text;
  text << response;
  return std::move(text).str();
}

/// One client and its requests. It is closed when the time of a step is over, and while redquel waits for it, another one may get its place.
class Visitor {
 public:
  Visitor(asio::io_context& context, ClientSocket socket, StartupSlots& places, std::uint64_t place)
      : connection_(std::make_shared<Connection>(std::move(socket))), timer_(context), places_(places), place_(place) {}
  ~Visitor() { places_.remove(place_); }
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  /// Reads the first bytes, and shakes hands if they begin TLS. Throws Disconnected and TlsRefusal.
  asio::awaitable<void> begin(executor::TlsContextPtr tls) {
    expires_after(kRequestTime);
    co_await read_more();
    constexpr char kHandshakeRecord = 0x16;
    if (!tls || input_.empty() || input_[0] != kHandshakeRecord) co_return;
    connection_->begin_tls(std::move(tls), std::exchange(input_, {}));
    bool is_done = false;
    while (!is_done) is_done = co_await connection_->shake_hands();
  }

  /// Returns the next request; nullopt: it is none, or too long, and the connection ends. Throws Disconnected.
  asio::awaitable<std::optional<Request>> read() {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kHeaderBytes);
    parser.body_limit(kBodyBytes);
    parser.eager(true);
    while (!parser.is_done()) {
      boost::system::error_code failure;
      const std::size_t taken = parser.put(asio::buffer(input_), failure);
      input_.erase(0, taken);
      if (failure && failure != http::error::need_more) co_return std::nullopt;
      if (parser.is_done()) break;
      if (input_.size() > kHeaderBytes) co_return std::nullopt;
      co_await read_more();
    }
    co_return parser.release();
  }
  asio::awaitable<void> write(std::string_view bytes) { co_await connection_->write(bytes); }
  void end() { connection_->shut_down(); }

  /// Redquel waits for the client from now on.
  void expires_after(std::chrono::seconds time) {
    places_.set_waiting(place_, !keeps_place_);
    timer_.expires_after(time);
    timer_.async_wait([weak = std::weak_ptr(connection_)](const boost::system::error_code& failure) {
      const auto connection = weak.lock();
      if (!failure && connection) connection->close();
    });
  }
  /// The client waits for redquel from now on.
  void expires_never() {
    places_.set_waiting(place_, false);
    timer_.cancel();
  }
  /// No other client gets its place.
  void keep_place() { keeps_place_ = true; }
  void close() { connection_->close(); }

  bool is_encrypted() const { return connection_->is_encrypted(); }
  bool is_of_this_machine() const { return connection_->security().client_address.is_loopback(); }

 private:
  asio::awaitable<void> read_more() {
    std::array<char, 4096> room;
    const std::size_t count = co_await connection_->read_some(room);
    input_.append(room.data(), count);
  }

  const std::shared_ptr<Connection> connection_;
  asio::steady_timer timer_;
  StartupSlots& places_;
  const std::uint64_t place_;
  bool keeps_place_ = false;
  std::string input_;
};

}  // namespace

class StatusServer::Acceptor {
 public:
  Acceptor(Options options, const ServerCounts& counts)
      : options_(std::move(options)), counts_(counts), tls_(options_.tls), api_(options_.open_inside, counts, options_.max_sessions) {
    if (options_.shows_page) tokens_ = new_page_tokens();
    else if (!options_.token_file.empty()) tokens_ = page_tokens(options_.token_file);
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
      const std::string host = end.address().is_v6() ? "[" + end.address().to_string() + "]" : end.address().to_string();
      if (options_.shows_page) spdlog::info("status page and SQL console: http://{}:{}/#token={}", host, end.port(), tokens_->write);
      else spdlog::info("metrics and health at http://{}:{}", host, end.port());
    }
    if (!tokens_) spdlog::info("there is no status page: status.token_file is empty");
    else if (!options_.shows_page) spdlog::info("the status page's tokens are in \"{}\"", options_.token_file.string());
    thread_ = std::thread([this] { context_.run(); });
  }
  void set_tls(executor::TlsContextPtr tls) {
    asio::post(context_, [this, tls = std::move(tls)]() mutable { tls_ = std::move(tls); });
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
      if (failure) {  // descriptors are short: the next attempt waits
        co_await pause();
        continue;
      }
      while (!make_place()) co_await pause();
      boost::system::error_code gone;
      const std::string address = socket.remote_endpoint(gone).address().to_string();
      asio::co_spawn(context_, serve(ClientSocket(std::move(socket)), places_.add(0, address)), asio::detached);
    }
  }
  asio::awaitable<void> pause() {
    asio::steady_timer timer(context_, std::chrono::milliseconds(100));
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }

  /// Closes the oldest connection that redquel waits for, of the address with most connections, if all places are taken. Returns false if the
  /// clients of all places wait for redquel.
  bool make_place() {
    if (!places_.is_full()) return true;
    const std::optional<StartupSlots::Slot> silent = places_.take_silent(std::chrono::milliseconds(0));
    if (!silent) return false;
    if (const auto visitor = visitors_.find(silent->number); visitor != visitors_.end()) visitor->second->close();
    return true;
  }

  asio::awaitable<void> serve(ClientSocket socket, std::uint64_t place) {
    try {
      Visitor visitor(context_, std::move(socket), places_, place);
      visitors_.emplace(place, &visitor);
      co_await visitor.begin(tls_);
      while (true) {
        visitor.expires_after(kRequestTime);
        const std::optional<Request> request = co_await visitor.read();
        if (!request) break;
        if (request->target() == "/api/stream" && may_call(*request, visitor)) {
          co_await serve_stream(visitor);
          break;
        }
        Response response = answer(*request);
        if (request->target().starts_with("/api/")) {
          visitor.expires_never();
          co_await answer_call(*request, visitor, response);
          visitor.expires_after(kRequestTime);
        }
        response.content_length(response.body().size());
        if (request->method() == http::verb::head) response.body().clear();
        const bool stays = response.keep_alive();
        co_await visitor.write(text_of(response));
        if (!stays) break;
      }
      visitor.end();
    } catch (const Disconnected&) {
      spdlog::debug("status: a client has gone, or was too slow");
    } catch (const TlsRefusal& refusal) {
      spdlog::debug("status: TLS handshake failed: {}", refusal.reason);
    } catch (const std::exception& error) {
      spdlog::debug("status: {}", error.what());
    }
    visitors_.erase(place);
  }

  /// Returns true for an address, localhost, and the names that the configuration allows.
  bool is_known_host(std::string_view host) const {
    const std::string name = sql::lower_case(without_port(host));
    boost::system::error_code failure;
    asio::ip::make_address(name, failure);
    return !failure || name == "localhost" || std::ranges::any_of(options_.hosts, [&](const std::string& known) { return sql::lower_case(known) == name; });
  }

  /// Returns the right of a request's token; nullopt: it bears none, comes from another page, or neither from this
  /// machine nor by TLS.
  std::optional<PageTokens::Right> right_of(const Request& request, const Visitor& visitor) const {
    if ((!visitor.is_of_this_machine() && !visitor.is_encrypted()) || !tokens_) return std::nullopt;
    const std::string_view host(request[http::field::host].data(), request[http::field::host].size());
    const std::string_view origin(request[http::field::origin].data(), request[http::field::origin].size());
    if (!is_known_host(host) || (!origin.empty() && origin != fmt::format("{}://{}", visitor.is_encrypted() ? "https" : "http", host))) return std::nullopt;
    const std::string_view given(request[http::field::authorization].data(), request[http::field::authorization].size());
    constexpr std::string_view kBearer = "Bearer ";
    return given.starts_with(kBearer) ? tokens_->right_of(given.substr(kBearer.size())) : std::nullopt;
  }
  bool may_call(const Request& request, const Visitor& visitor) const {
    return request.method() == http::verb::get && right_of(request, visitor).has_value();
  }

  /// Sends the figures each second, as server-sent events, until the client closes the connection.
  asio::awaitable<void> serve_stream(Visitor& visitor) {
    static constexpr std::string_view kHead =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";
    visitor.keep_place();
    co_await visitor.write(kHead);
    PageApi::Stream figures = api_.stream();
    asio::steady_timer pause(context_);
    while (true) {
      visitor.expires_never();
      std::string event;
      bool is_over = false;
      try {
        const std::string data = co_await figures.next();
        event = "data: " + data + "\n\n";
      } catch (const PageApi::Failure& failure) {
        event = "event: end\ndata: " + boost::json::serialize(boost::json::value(failure.message)) + "\n\n";
        is_over = true;
      }
      visitor.expires_after(kRequestTime);
      co_await visitor.write(event);
      if (is_over) co_return;
      pause.expires_after(kStreamPause);
      co_await pause.async_wait(asio::use_awaitable);
    }
  }

  /// Answers /api/<name>.
  asio::awaitable<void> answer_call(const Request& request, const Visitor& visitor, Response& response) {
    const auto refuse = [&](unsigned status, const std::string& message) {
      fill(response, static_cast<http::status>(status), "application/json", boost::json::serialize(boost::json::object{{"message", message}}));
    };
    const std::optional<PageTokens::Right> right = right_of(request, visitor);
    if (!right) co_return refuse(401, "a token is missing, or it is not the one of status.token_file");
    if (request.method() != http::verb::post) co_return refuse(405, "only POST");
    boost::system::error_code failure;
    const boost::json::value body = boost::json::parse(request.body(), failure);
    if (failure || !body.is_object()) co_return refuse(400, "the request's body is no JSON object");
    std::optional<PageApi::Failure> refused;
    try {
      const std::string name(request.target().substr(std::string_view("/api/").size()));
      const boost::json::value answer = co_await api_.answer(name, body.as_object(), *right);
      fill(response, http::status::ok, "application/json", boost::json::serialize(answer));
    } catch (const PageApi::Failure& error) {
      refused = error;
    }
    if (refused) refuse(refused->status, refused->message);
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
    } else if (const auto file = std::ranges::find(page_files(), target, &PageFile::path); tokens_ && file != page_files().end() && is_read(request)) {
      response.set("Content-Security-Policy", kPagePolicy);
      fill(response, http::status::ok, std::string(file->type).c_str(), std::string(file->text));
    } else if (!is_read(request)) {
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
      plain(http::status::not_found, "not found; there are /, /metrics, /health/live and /health/ready\n");
    }
    return response;
  }

  static bool is_read(const Request& request) { return request.method() == http::verb::get || request.method() == http::verb::head; }
  static void fill(Response& response, http::status status, const char* type, std::string text) {
    response.result(status);
    response.set(http::field::content_type, type);
    response.body() = std::move(text);
  }

  Options options_;
  const ServerCounts& counts_;
  executor::TlsContextPtr tls_;       // null: none
  std::optional<PageTokens> tokens_;  // none: there is no page
  StartupSlots places_{kMostConnections};
  std::map<std::uint64_t, Visitor*> visitors_;  // by their places; they belong to the context
  asio::io_context context_{1};
  PageApi api_;  // its sockets belong to the context
  std::vector<tcp::acceptor> acceptors_;
  std::thread thread_;
};

StatusServer::StatusServer(Options options, const ServerCounts& counts) : acceptor_(std::make_unique<Acceptor>(std::move(options), counts)) {}
StatusServer::~StatusServer() = default;
void StatusServer::start() { acceptor_->start(); }
void StatusServer::stop() { acceptor_->stop(); }
void StatusServer::set_tls(executor::TlsContextPtr tls) { acceptor_->set_tls(std::move(tls)); }

}  // namespace redquel::server
