#include "server/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "executor/tls/tls_session.h"

namespace redquel::server {

namespace {

/// Encrypted in one piece: a large answer neither stands in memory twice nor holds the event loop up.
constexpr std::size_t kPieceBytes = 256 * 1024;
/// Encrypted bytes are read into one buffer of the thread: an idle connection has none.
constexpr std::size_t kInputBytes = 32 * 1024;

/// A completion token that no cancellation of the coroutine reaches.
auto unstoppable() {
  return asio::bind_cancellation_slot(asio::cancellation_slot(), asio::as_tuple(asio::use_awaitable));
}

}  // namespace

Connection::Connection(ClientSocket socket, ClientOrigin origin) : socket_(std::move(socket)) {
  security_.origin = origin;
  boost::system::error_code ignored, failure;
  socket_.non_blocking(true, ignored);
  const auto local = socket_.local_endpoint(failure);
  security_.is_unix_socket = !failure && is_unix(local);
  if (security_.is_unix_socket) find_unix_peer();
  else find_tcp_ends();
}

Connection::Connection(Connection&&) noexcept = default;
Connection::~Connection() = default;

void Connection::find_tcp_ends() {
  boost::system::error_code ignored, failure;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  if (const auto remote = socket_.remote_endpoint(failure); !failure) {
    const asio::ip::tcp::endpoint endpoint = tcp_endpoint(remote);
    security_.client_address = endpoint.address();
    security_.client_port = endpoint.port();
    peer_address_ = facts_.client_address = endpoint.address().to_string();
    facts_.client_port = endpoint.port();
  }
  if (const auto local = socket_.local_endpoint(failure); !failure) {
    const asio::ip::tcp::endpoint endpoint = tcp_endpoint(local);
    security_.server_address = endpoint.address();
    security_.server_port = endpoint.port();
    facts_.server_address = endpoint.address().to_string();
    facts_.server_port = endpoint.port();
  }
}

void Connection::find_unix_peer() {
  peer_address_ = "[local]";
  facts_.client_port = -1;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket_.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) security_.peer_user = peer.uid;
}

asio::awaitable<std::size_t> Connection::read_some(std::span<char> room) {
  if (tls_) co_return co_await read_encrypted(room);
  reading_ = true;
  auto buffer = asio::buffer(room.data(), room.size());
  auto token = unstoppable();
  auto [failure, count] = co_await socket_.async_read_some(buffer, std::move(token));
  reading_ = false;
  if (interrupted_) {
    interrupted_ = false;
    if (failure == asio::error::operation_aborted) co_return 0;
  }
  if (failure || count == 0) throw Disconnected();
  co_return count;
}

asio::awaitable<bool> Connection::wait_readable() {
  reading_ = true;
  auto token = unstoppable();
  auto [failure] = co_await socket_.async_wait(asio::socket_base::wait_read, std::move(token));
  reading_ = false;
  if (interrupted_) {
    interrupted_ = false;
    if (failure == asio::error::operation_aborted) co_return false;
  }
  if (failure) throw Disconnected();
  co_return true;
}

bool Connection::feed_tls() {
  thread_local std::array<char, kInputBytes> input;
  const ssize_t count = ::recv(socket_.native_handle(), input.data(), input.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) throw Disconnected();
  tls_->feed({input.data(), static_cast<std::size_t>(count)});
  return true;
}

asio::awaitable<std::size_t> Connection::read_encrypted(std::span<char> room) {
  while (true) {
    std::size_t count = 0;
    try {
      if (tls_->has_input()) count = tls_->decrypt(room);
    } catch (const executor::TlsError&) {
      send_some();  // the alert
      throw Disconnected();
    }
    if (count > 0) co_return count;
    // A client that makes TLS answer (each renegotiation is declined) and does not read the answers is cut off.
    if (tls_->is_ended() || !write_at_once({})) throw Disconnected();
    if (!co_await wait_readable()) co_return 0;
    feed_tls();
  }
}

std::string_view Connection::next_bytes() {
  if (!tls_) return unsent_;
  if (output_sent_ == tls_->output().size()) {
    tls_->clear_output();
    output_sent_ = 0;
    const std::string_view piece = unsent_.substr(0, kPieceBytes);
    try {
      tls_->encrypt(piece);
    } catch (const executor::TlsError&) {
      throw Disconnected();
    }
    unsent_.remove_prefix(piece.size());
  }
  return tls_->output().substr(output_sent_);
}

void Connection::note_sent(std::size_t count) {
  if (!tls_) return unsent_.remove_prefix(count);
  output_sent_ += count;
  if (output_sent_ < tls_->output().size()) return;
  tls_->clear_output();
  output_sent_ = 0;
}

bool Connection::send_some() {
  while (true) {
    const std::string_view bytes = next_bytes();
    if (bytes.empty()) return true;
    const ssize_t sent = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    const std::size_t count = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    const bool is_all = count == bytes.size();
    note_sent(count);
    if (!is_all) return false;
    if (unsent_.empty()) return true;
  }
}

bool Connection::write_at_once(std::string_view bytes) {
  unsent_ = bytes;
  return send_some();
}

asio::awaitable<void> Connection::finish_write() {
  do {
    const std::string_view bytes = next_bytes();
    auto buffer = asio::buffer(bytes.data(), bytes.size());
    auto token = unstoppable();
    auto [failure, count] = co_await asio::async_write(socket_, buffer, std::move(token));
    if (failure) throw Disconnected();
    note_sent(count);
  } while (!send_some());
}

asio::awaitable<void> Connection::write(std::string_view bytes) {
  if (!write_at_once(bytes)) co_await finish_write();
}

void Connection::begin_tls(executor::TlsContextPtr context, std::string_view first) {
  tls_ = std::make_unique<executor::TlsSession>(std::move(context));
  tls_->feed(first);
}

asio::awaitable<bool> Connection::shake_hands() {
  std::optional<std::string> refusal;
  bool done = false;
  try {
    done = tls_->shake_hands();
    if (done) take_tls_facts();
  } catch (const executor::TlsError& error) {
    refusal = error.what();
  }
  if (refusal) {
    write_at_once({});  // the alert
    throw TlsRefusal{*std::move(refusal)};
  }
  co_await write({});
  if (done) co_return true;
  if (co_await wait_readable()) feed_tls();
  co_return false;
}

void Connection::take_tls_facts() {
  TlsFacts facts{.version = tls_->version(), .cipher = tls_->cipher(), .bits = tls_->cipher_bits(), .server_end_point = tls_->server_end_point()};
  sql::EncryptionFacts shown{.version = facts.version, .cipher = facts.cipher, .bits = facts.bits};
  if (auto certificate = tls_->peer_certificate()) {
    shown.client_subject = certificate->subject;
    shown.client_issuer = certificate->issuer;
    shown.client_serial = certificate->serial;
    facts.client_certificate = {.common_name = std::move(certificate->common_name),
                                .distinguished_name = std::move(certificate->distinguished_name),
                                .subject = std::move(certificate->subject),
                                .issuer = std::move(certificate->issuer),
                                .serial = std::move(certificate->serial)};
  }
  security_.tls = std::move(facts);
  facts_.encryption = std::move(shown);
}

bool Connection::has_application_protocol() const { return tls_->has_application_protocol(); }

void Connection::interrupt() {
  if (!reading_) return;
  interrupted_ = true;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

bool Connection::peer_closed() const {
  pollfd state{const_cast<Connection*>(this)->socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

void Connection::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Connection::shut_down() {
  if (tls_) {
    tls_->end();
    write_at_once({});
  }
  boost::system::error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
}

}  // namespace redquel::server
