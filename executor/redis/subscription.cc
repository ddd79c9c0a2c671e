#include "executor/redis/subscription.h"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <array>
#include <vector>

#include "executor/redis/handshake.h"
#include "executor/redis/master_watch.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/socket_connect.h"
#include "executor/redis/tls_handshake.h"
#include "executor/redis/topology.h"

namespace redquel::executor {

namespace {

using boost::system::error_code;
using std::chrono::milliseconds;

constexpr std::size_t kSubscriptionInput = 8 * 1024;
/// Between two looks of those who wait for the confirmation.
constexpr milliseconds kReadinessPause{2};

}  // namespace

/// Kept alive by the coroutine under way, so that the subscription can be dropped at any time.
class Subscription::Core : public MasterFollower, public std::enable_shared_from_this<Core> {
 public:
  Core(asio::any_io_executor executor, ConnectionOptions options, std::string channel, Handler handler)
      : options_(std::move(options)),
        channel_(std::move(channel)),
        handler_(std::move(handler)),
        socket_(executor),
        pause_timer_(executor),
        attempt_timer_(executor) {
    options_.client_name += "-listen";
  }

  static asio::awaitable<void> run(std::shared_ptr<Core> self) {
    milliseconds pause = self->options_.retry_pause;
    while (!self->stopped_) {
      self->error_ = co_await self->connect();
      if (!self->error_ && !self->stopped_) {
        pause = self->options_.retry_pause;
        const std::string reason = co_await self->read_until_lost();
        if (!self->stopped_ && !self->options_.url.is_sentinel) spdlog::warn("notifications of other sessions may be lost: {}", reason);
      }
      self->is_ready_ = false;
      self->pings_ = self->pongs_ = 0;
      ++self->connection_;
      self->close_socket();
      if (self->stopped_) break;
      self->pause_timer_.expires_after(pause);
      pause = std::min(pause * 2, self->options_.retry_pause_limit);
      error_code cancelled;
      co_await self->pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
  }

  void stop() {
    stopped_ = true;
    handler_ = nullptr;
    close_socket();
    pause_timer_.cancel();
    attempt_timer_.cancel();
  }

  void master_is_at(const TcpPlace& place) override {
    if (master_ && *master_ != place) close_socket();
  }

  bool is_ready() const { return is_ready_; }
  /// Sends a PING, whose answer comes behind the messages that are on their way. Returns its number.
  std::uint64_t ping() {
    CommandBatch batch;
    batch.add("PING");
    try {
      const std::string bytes = tls_ ? tls_->encrypted(batch.bytes()) : std::string(batch.bytes());
      if (socket_.write_some(asio::buffer(bytes)) != bytes.size()) close_socket();  // the reader notices
    } catch (const std::runtime_error&) {
      close_socket();
    }
    return ++pings_;
  }
  /// The number of the connection that is there.
  std::uint64_t connection() const { return connection_; }
  bool has_answered(std::uint64_t ping) const { return pongs_ >= ping; }
  const std::optional<sql::SqlError>& error() const { return error_; }
  milliseconds timeout() const { return options_.connect_timeout; }
  std::string address() const { return options_.url.address(); }
  asio::any_io_executor executor() { return socket_.get_executor(); }

 private:
  /// Login and SUBSCRIBE.
  asio::awaitable<std::optional<sql::SqlError>> connect() {
    const RedisLogin login = current_login(options_);
    RedisUrl url = options_.url;
    if (url.sentinels) {
      if (options_.master_watch) options_.master_watch->follow(weak_from_this());
      const FoundMaster found = co_await find_master(url, login.tls);
      if (stopped_ || !found.place) co_return connection_failed(url.address(), found.reason);
      url.place = *found.place;
      master_ = found.place;
    } else if (options_.topology) {
      // A cluster passes each message to all nodes.
      try {
        const auto map = co_await options_.topology->known(options_.connect_timeout);
        url.place = map->masters()[++attempts_ % map->masters().size()].place;
      } catch (const sql::SqlError& error) {
        co_return error;
      }
      url.is_node = true;
    }
    attempt_timer_.expires_after(options_.connect_timeout);
    attempt_timer_.async_wait([weak = weak_from_this()](error_code cancelled) {
      const auto self = weak.lock();
      if (!cancelled && self && !self->is_ready_) self->close_socket();
    });
    const error_code failure = co_await connect_socket(socket_, url);
    if (failure) co_return connection_failed(options_.url.address(), failure.message());
    tls_.reset();
    if (login.tls) {
      const auto* place = std::get_if<TcpPlace>(&url.place);
      tls_.emplace(login.tls, place != nullptr ? place->host : std::string());
      TlsHandshakeResult handshake = co_await shake_tls_hands(socket_, *tls_, options_.url.address());
      if (handshake.error) co_return std::move(handshake.error);
    }
    decoder_ = std::make_unique<ReplyDecoder>(options_.max_reply_bytes);
    const CommandBatch commands = handshake_commands(url, login, options_.client_name, options_.only_looks);
    Replies replies;
    replies.set_names(commands.names());
    if (auto error = co_await converse(commands, replies)) co_return error;
    HandshakeResult result = read_handshake(url, replies);
    if (result.error) co_return std::move(result.error);
    CommandBatch subscribe;
    subscribe.add("SUBSCRIBE", channel_);
    Replies confirmation;
    confirmation.set_names(subscribe.names());
    if (auto error = co_await converse(subscribe, confirmation)) co_return error;
    try {
      confirmation.or_throw();
    } catch (const sql::SqlError& error) {
      co_return error;
    }
    attempt_timer_.cancel();
    is_ready_ = true;
    co_return std::nullopt;
  }

  /// Sends the commands and waits for a reply to each.
  asio::awaitable<std::optional<sql::SqlError>> converse(const CommandBatch& commands, Replies& replies) {
    error_code failure;
    const std::string bytes = tls_ ? tls_->encrypted(commands.bytes()) : std::string(commands.bytes());
    co_await asio::async_write(socket_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, failure));
    while (!failure && replies.size() < commands.size()) {
      const std::size_t received = co_await socket_.async_read_some(asio::buffer(input_), asio::redirect_error(asio::use_awaitable, failure));
      try {
        feed(received);
        while (replies.size() < commands.size() && decoder_->next(replies)) {
        }
      } catch (const std::exception& error) {
        co_return connection_failed(options_.url.address(), error.what());
      }
    }
    if (failure) co_return connection_failed(options_.url.address(), failure.message());
    co_return std::nullopt;
  }

  asio::awaitable<std::string> read_until_lost() {
    auto message = std::make_unique<Replies>();
    while (true) {
      try {
        while (decoder_->next(*message)) {
          take(*message);
          message = std::make_unique<Replies>();
        }
      } catch (const std::exception& error) {
        co_return error.what();
      }
      error_code failure;
      const std::size_t received = co_await socket_.async_read_some(asio::buffer(input_), asio::redirect_error(asio::use_awaitable, failure));
      if (stopped_) co_return "stopped";
      if (failure) co_return failure.message();
      try {
        feed(received);
      } catch (const std::exception& error) {
        co_return error.what();
      }
    }
  }

  /// Takes bytes that were received into the decoder. Throws TlsError, ProtocolError.
  void feed(std::size_t received) {
    const std::string_view bytes(input_.data(), received);
    if (!tls_) return decoder_->feed(bytes);
    tls_->feed(bytes);
    std::array<char, kSubscriptionInput> plain;
    while (tls_->has_input()) {
      const std::size_t count = tls_->decrypt(plain);
      if (count == 0) break;
      decoder_->feed(std::string_view(plain.data(), count));
    }
  }

  /// ["message", channel, what was published] or ["pong", ""]
  void take(const Replies& replies) {
    if (!replies[0].is_array()) return;
    const auto parts = replies.array(0);
    if (parts.size() == 2 && parts[0].text == "pong") ++pongs_;
    if (parts.size() != 3 || parts[0].text != "message" || parts[1].text != channel_ || !handler_) return;
    handler_(parts[2].text);
  }

  void close_socket() {
    error_code ignored;
    socket_.close(ignored);
  }

  ConnectionOptions options_;
  std::string channel_;
  Handler handler_;
  RedisSocket socket_;
  asio::steady_timer pause_timer_, attempt_timer_;
  std::unique_ptr<ReplyDecoder> decoder_;
  std::optional<TlsSession> tls_;
  std::vector<char> input_ = std::vector<char>(kSubscriptionInput);
  std::optional<sql::SqlError> error_;  // of the last attempt
  std::optional<TcpPlace> master_;      // the place that the sentinels named
  std::size_t attempts_ = 0;
  std::uint64_t connection_ = 0, pings_ = 0, pongs_ = 0;  // pings and pongs: of this connection
  bool is_ready_ = false, stopped_ = false;
};

Subscription::Subscription(asio::any_io_executor executor, ConnectionOptions options, std::string channel, Handler handler)
    : core_(std::make_shared<Core>(executor, std::move(options), std::move(channel), std::move(handler))) {
  asio::co_spawn(executor, Core::run(core_), asio::detached);
}

Subscription::~Subscription() { core_->stop(); }

asio::awaitable<void> Subscription::ready() {
  const std::shared_ptr<Core> core = core_;
  const auto deadline = std::chrono::steady_clock::now() + core->timeout();
  asio::steady_timer timer(core->executor());
  while (!core->is_ready()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      if (core->error()) throw *core->error();
      throw connection_failed(core->address(), "timeout");
    }
    timer.expires_after(kReadinessPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<void> Subscription::catch_up() {
  const std::shared_ptr<Core> core = core_;
  if (!core->is_ready()) co_return;
  const std::uint64_t connection = core->connection(), ping = core->ping();
  const auto deadline = std::chrono::steady_clock::now() + core->timeout();
  asio::steady_timer timer(core->executor());
  while (core->is_ready() && core->connection() == connection && !core->has_answered(ping) && std::chrono::steady_clock::now() < deadline) {
    timer.expires_after(kReadinessPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace redquel::executor
