#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstring>
#include <string>

namespace redquel::server {

namespace asio = boost::asio;

/// A client's socket: TCP or unix.
using ClientSocket = asio::generic::stream_protocol::socket;

inline bool is_unix(const ClientSocket::endpoint_type& endpoint) { return endpoint.data()->sa_family == AF_UNIX; }

/// Returns the endpoint of a TCP socket. Clients of IPv4 that came by a socket for both versions have their IPv4 address.
inline asio::ip::tcp::endpoint tcp_endpoint(const ClientSocket::endpoint_type& generic) {
  asio::ip::tcp::endpoint endpoint;
  if (generic.size() > endpoint.capacity()) return endpoint;
  std::memcpy(endpoint.data(), generic.data(), generic.size());
  endpoint.resize(generic.size());
  if (!endpoint.address().is_v6() || !endpoint.address().to_v6().is_v4_mapped()) return endpoint;
  return {asio::ip::make_address_v4(asio::ip::v4_mapped, endpoint.address().to_v6()), endpoint.port()};
}

/// Returns the address of a client for logs and counts: all clients of unix sockets are "[local]".
inline std::string address_text(const ClientSocket::endpoint_type& endpoint) {
  return is_unix(endpoint) ? "[local]" : tcp_endpoint(endpoint).address().to_string();
}

}  // namespace redquel::server
