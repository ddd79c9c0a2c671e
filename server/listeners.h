#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/socket_file.h"

namespace redquel::server {

namespace asio = boost::asio;

struct ListenAddress {
  std::string host;        // an address, a name, or "*": all addresses
  std::uint16_t port = 0;  // 0: a free one

  bool operator==(const ListenAddress&) const = default;
};

/// Returns the addresses with those beyond loopback left out; all addresses ("*", 0.0.0.0, ::) become loopback's.
std::vector<ListenAddress> loopback_of(const std::vector<ListenAddress>& addresses);

struct UnixSocketOptions {
  std::vector<std::filesystem::path> directories;
  unsigned permissions = 0777;
  std::string group;  // a name or a number; empty: the process's

  bool operator==(const UnixSocketOptions&) const = default;
};

/// The sockets that clients connect to.
class Listeners {
 public:
  using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
  struct Listener {
    Acceptor acceptor;
    asio::steady_timer pause;  // of the coroutine that accepts
  };

  /// The rules for opening TCP addresses.
  struct Rules {
    bool serves_others = false;  // addresses beyond loopback are allowed
    bool shares_ports = false;   // with other processes of this user (SO_REUSEPORT)
  };

  /// Binds and listens: TCP addresses, then a unix socket in each directory, under the port of the first TCP address (`default_port` without
  /// one). Throws std::runtime_error for the person at the keyboard.
  Listeners(asio::io_context& context, const std::vector<ListenAddress>& addresses, const UnixSocketOptions& unix_sockets,
            Rules rules, std::uint16_t default_port);
  /// Listens on sockets that a service manager has opened, and owns their descriptors. Throws std::runtime_error for one that is no
  /// listening stream socket of TCP or of the file system, one that serves IPv4 and IPv6 at once, and for others than loopback where the
  /// rules do not allow it.
  Listeners(asio::io_context& context, const std::vector<int>& sockets, Rules rules, std::uint16_t default_port);

  std::vector<Listener>& all() { return listeners_; }
  std::uint16_t port() const { return port_; }
  /// "127.0.0.1:5433" or the path of a unix socket, of the first listener.
  const std::string& address() const { return addresses_.front(); }
  const std::vector<std::string>& addresses() const { return addresses_; }
  /// Accepts nothing more, and removes the files of unix sockets.
  void close();

 private:
  void listen_on_host(const ListenAddress& wanted);
  void take_socket(int descriptor);
  void listen_on_tcp(const asio::ip::tcp::endpoint& endpoint);
  void listen_on_unix(const std::filesystem::path& directory, const UnixSocketOptions& options);

  asio::io_context& context_;
  Rules rules_;
  std::vector<Listener> listeners_;
  std::vector<std::unique_ptr<SocketFile>> files_;
  std::vector<std::string> addresses_;
  std::uint16_t port_ = 0;  // of the first TCP address
};

}  // namespace redquel::server
