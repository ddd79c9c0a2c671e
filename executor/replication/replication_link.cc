#include "executor/replication/replication_link.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <chrono>

#include "executor/redis/redis_error.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/tls_handshake.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using namespace std::chrono_literals;

/// The name by which Redis lists the link. It can be no host (RFC 2606), so that nothing takes the link for a replica.
constexpr std::string_view kAnnouncedHost = "redquel-stream.invalid";
/// Redis makes a snapshot before it sends the first stream, which takes some seconds.
constexpr auto kLongestAttempt = 120s;
constexpr std::size_t kMostLineBytes = 1024;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::size_t kMarkBytes = 40;  // of the end of a snapshot that is sent without its length

sql::SqlError refused(std::string_view line) {
  line.remove_prefix(1);
  sql::SqlError error = redis_error(line, "PSYNC");
  if (error.sqlstate() != sqlstate::kInsufficientPrivilege) return error;
  return std::move(error).hint("Grant +psync and +replconf to redquel's user of Redis.");
}

std::uint64_t offset_in(std::string_view text) {
  std::uint64_t offset = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), offset);
  if (failure != std::errc() || stop != text.data() + text.size()) throw unexpected_reply("PSYNC", "an offset");
  return offset;
}

}  // namespace

ReplicationLink::ReplicationLink(asio::any_io_executor executor, ConnectionOptions options)
    : options_(std::move(options)), socket_(executor), acknowledgement_timer_(executor), attempt_timer_(executor), room_(kReadBytes) {}

void ReplicationLink::close() {
  is_closed_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
  acknowledgement_timer_.cancel();
  attempt_timer_.cancel();
}

asio::awaitable<void> ReplicationLink::open() {
  const boost::system::error_code failure = co_await connect_socket(socket_, options_.url);
  if (failure) throw connection_failed(options_.url.address(), failure.message());
  const RedisLogin login = current_login(options_);
  if (login.tls) {
    const auto* place = std::get_if<TcpPlace>(&options_.url.place);
    tls_.emplace(login.tls, place != nullptr ? place->host : std::string());
    const TlsHandshakeResult handshake = co_await shake_tls_hands(socket_, *tls_, options_.url.address());
    if (handshake.error) throw *handshake.error;
  }
  CommandBatch greeting;
  if (!login.user.empty()) greeting.add("AUTH", login.user, login.password);
  else if (!login.password.empty()) greeting.add("AUTH", login.password);
  greeting.add("REPLCONF", "ip-address", kAnnouncedHost);
  greeting.add("REPLCONF", "capa", "eof", "capa", "psync2");
  greeting.add("REPLCONF", "rdb-filter-only", "");  // from Redis 7 on: a snapshot without keys
  const std::size_t answers = greeting.size();
  const std::size_t filter = answers - 1;
  co_await write(std::move(greeting));
  for (std::size_t index = 0; index < answers; ++index) {
    const std::string line = co_await read_line();
    if (line.starts_with('-') && index != filter) throw refused(line);
  }
}

asio::awaitable<void> ReplicationLink::write(CommandBatch commands) {
  output_ = tls_ ? tls_->encrypted(commands.bytes()) : std::string(commands.bytes());
  const auto [failure, count] = co_await asio::async_write(socket_, asio::buffer(output_), asio::as_tuple(asio::use_awaitable));
  if (failure) throw connection_lost(failure.message());
}

asio::awaitable<void> ReplicationLink::receive() {
  const auto [failure, count] = co_await socket_.async_read_some(asio::buffer(room_), asio::as_tuple(asio::use_awaitable));
  if (failure) throw connection_lost(failure.message());
  const std::string_view bytes(room_.data(), count);
  if (!tls_) {
    input_.append(bytes);
    co_return;
  }
  tls_->feed(bytes);
  std::vector<char> plain(kReadBytes);
  while (tls_->has_input()) {
    const std::size_t decrypted = tls_->decrypt(plain);
    if (decrypted == 0) break;
    input_.append(plain.data(), decrypted);
  }
}

asio::awaitable<std::string> ReplicationLink::read_line() {
  while (true) {
    const std::size_t begin = input_.find_first_not_of('\n');  // signs of life while a snapshot is made
    input_.erase(0, std::min(begin, input_.size()));
    const std::size_t end = input_.find("\r\n");
    if (end != std::string::npos) {
      std::string line = input_.substr(0, end);
      input_.erase(0, end + 2);
      co_return line;
    }
    if (input_.size() > kMostLineBytes) throw unexpected_reply("PSYNC", "a short line");
    co_await receive();
  }
}

asio::awaitable<void> ReplicationLink::skip_snapshot() {
  const std::string header = co_await read_line();
  constexpr std::string_view kUnknownLength = "$EOF:";
  if (header.starts_with(kUnknownLength)) {
    const std::string mark = header.substr(kUnknownLength.size());
    if (mark.size() != kMarkBytes) throw unexpected_reply("PSYNC", "a mark of 40 bytes");
    while (true) {
      const std::size_t end = input_.find(mark);
      if (end != std::string::npos) {
        input_.erase(0, end + mark.size());
        co_return;
      }
      if (input_.size() >= kMarkBytes) input_.erase(0, input_.size() - kMarkBytes + 1);
      co_await receive();
    }
  }
  if (!header.starts_with('$')) throw unexpected_reply("PSYNC", "a snapshot");
  std::uint64_t rest = offset_in(std::string_view(header).substr(1));
  while (rest > 0) {
    const std::size_t taken = std::min<std::uint64_t>(rest, input_.size());
    input_.erase(0, taken);
    rest -= taken;
    if (rest > 0) co_await receive();
  }
}

asio::awaitable<void> ReplicationLink::acknowledge(std::shared_ptr<ReplicationLink> self) {
  // Offset 0 confirms nothing. Redis drops a replica that sends nothing, and waits for a first word behind a snapshot.
  try {
    while (!self->is_closed_) {
      CommandBatch word;
      word.add("REPLCONF", "ACK", "0");
      co_await self->write(std::move(word));
      self->acknowledgement_timer_.expires_after(1s);
      co_await self->acknowledgement_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  } catch (const std::exception&) {
    self->close();
  }
}

asio::awaitable<void> ReplicationLink::limit_attempt(std::shared_ptr<ReplicationLink> self) {
  self->attempt_timer_.expires_after(kLongestAttempt);
  co_await self->attempt_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  if (!self->is_attached_) self->close();
}

asio::awaitable<ReplicationLink::Attached> ReplicationLink::attach(std::optional<StreamPosition> position) {
  asio::co_spawn(socket_.get_executor(), limit_attempt(shared_from_this()), asio::detached);
  co_await open();
  CommandBatch request;
  if (position) request.add("PSYNC", position->history, position->offset + 1);
  else request.add("PSYNC", "?", "-1");
  co_await write(std::move(request));
  const std::string line = co_await read_line();
  Attached attached;
  constexpr std::string_view kContinue = "+CONTINUE", kFull = "+FULLRESYNC ";
  if (line.starts_with('-')) throw refused(line);
  if (line.starts_with(kContinue) && position) {
    attached.position = *position;
    attached.is_continued = true;
    if (line.size() > kContinue.size() + 1) attached.position.history = line.substr(kContinue.size() + 1);
  } else if (line.starts_with(kFull)) {
    const std::size_t blank = line.find(' ', kFull.size());
    if (blank == std::string::npos) throw unexpected_reply("PSYNC", "a replication id and an offset");
    attached.position.history = line.substr(kFull.size(), blank - kFull.size());
    attached.position.offset = offset_in(std::string_view(line).substr(blank + 1));
    co_await skip_snapshot();  // a word before it would put it off: Redis waits for a silent second of all replicas
  } else {
    throw unexpected_reply("PSYNC", "+CONTINUE or +FULLRESYNC");
  }
  is_attached_ = true;
  asio::co_spawn(socket_.get_executor(), acknowledge(shared_from_this()), asio::detached);
  attempt_timer_.cancel();
  parser_ = StreamParser(attached.position.offset);
  parser_.feed(input_);
  input_.clear();
  co_return attached;
}

asio::awaitable<void> ReplicationLink::read_more() {
  co_await receive();
  parser_.feed(input_);
  input_.clear();
}

}  // namespace redquel::executor
