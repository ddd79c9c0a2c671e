#include "server/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace redquel::server {

namespace {

/// A completion token that no cancellation of the coroutine reaches.
auto unstoppable() {
  return asio::bind_cancellation_slot(asio::cancellation_slot(), asio::as_tuple(asio::use_awaitable));
}

/// A client of version 4 that came by a socket for both is shown as what it is.
std::string plain_address(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {
  boost::system::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  socket_.non_blocking(true, ignored);
  boost::system::error_code failure;
  const auto endpoint = socket_.remote_endpoint(failure);
  if (!failure) {
    peer_address_ = endpoint.address().to_string();
    facts_.client_address = plain_address(endpoint.address());
    facts_.client_port = endpoint.port();
    security_.client_address = asio::ip::make_address(facts_.client_address);
    security_.client_port = endpoint.port();
  }
  const auto local = socket_.local_endpoint(failure);
  if (failure) return;
  facts_.server_address = plain_address(local.address());
  facts_.server_port = local.port();
  security_.server_address = asio::ip::make_address(facts_.server_address);
  security_.server_port = local.port();
}

asio::awaitable<std::size_t> Connection::read_some(std::span<char> room) {
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

std::string_view Connection::write_at_once(std::string_view bytes) {
  const ssize_t sent = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  return bytes;
}

asio::awaitable<void> Connection::write(std::string_view bytes) {
  auto buffer = asio::buffer(bytes.data(), bytes.size());
  auto token = unstoppable();
  auto [failure, count] = co_await asio::async_write(socket_, buffer, std::move(token));
  if (failure) throw Disconnected();
}

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
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace redquel::server
