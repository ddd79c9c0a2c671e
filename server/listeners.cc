#include "server/listeners.h"

#include <fmt/format.h>
#include <grp.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace redquel::server {

namespace {

using asio::ip::tcp;

std::string place(const tcp::endpoint& endpoint) {
  return fmt::format(fmt::runtime(endpoint.address().is_v6() ? "[{}]:{}" : "{}:{}"), endpoint.address().to_string(), endpoint.port());
}

std::vector<tcp::endpoint> resolve(asio::io_context& context, const ListenAddress& wanted) {
  if (wanted.host == "*") return {{tcp::v4(), wanted.port}, {tcp::v6(), wanted.port}};
  tcp::resolver resolver(context);
  boost::system::error_code failure;
  const auto found = resolver.resolve(wanted.host, std::to_string(wanted.port), tcp::resolver::passive, failure);
  if (failure || found.empty()) throw std::runtime_error(fmt::format("cannot listen on {}:{}: {}", wanted.host, wanted.port, failure.message()));
  std::vector<tcp::endpoint> endpoints;
  for (const auto& entry : found) {
    if (std::ranges::find(endpoints, entry.endpoint()) == endpoints.end()) endpoints.push_back(entry.endpoint());
  }
  return endpoints;
}

std::runtime_error serves_this_machine_only(const std::string& host) {
  return std::runtime_error(fmt::format("refusing to listen on {}: no role has a password. Run `redquel init` first, give --pwfile FILE or "
                                        "REDQUEL_PASSWORD_FILE, or set authentication.rules; without them redquel serves this machine only",
                                        host));
}

/// The value of an option of the socket level; 0 where the descriptor is no socket.
int socket_option(int descriptor, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(descriptor, level, name, &value, &size) == 0 ? value : 0;
}

gid_t group_number(const std::string& group) {
  gid_t number = 0;
  const char* const end = group.data() + group.size();
  if (const auto parsed = std::from_chars(group.data(), end, number); parsed.ec == std::errc() && parsed.ptr == end) return number;
  const struct group* found = ::getgrnam(group.c_str());
  if (found == nullptr) throw std::runtime_error(fmt::format("server.unix_socket_group: group \"{}\" does not exist", group));
  return found->gr_gid;
}

}  // namespace

std::vector<ListenAddress> loopback_of(const std::vector<ListenAddress>& addresses) {
  std::vector<ListenAddress> kept;
  for (const ListenAddress& address : addresses) {
    boost::system::error_code is_name;
    const asio::ip::address parsed = asio::ip::make_address(address.host, is_name);
    const bool is_every = address.host == "*";
    if (is_every || (!is_name && parsed.is_unspecified())) {
      kept.push_back({is_every || parsed.is_v4() ? "127.0.0.1" : "::1", address.port});
    } else if (is_name || parsed.is_loopback()) {
      kept.push_back(address);
    }
  }
  return kept;
}

Listeners::Listeners(asio::io_context& context, const std::vector<ListenAddress>& addresses, const UnixSocketOptions& unix_sockets,
                     Rules rules, std::uint16_t default_port)
    : context_(context), rules_(rules) {
  for (const ListenAddress& address : addresses) listen_on_host(address);
  if (port_ == 0) port_ = default_port;
  for (const std::filesystem::path& directory : unix_sockets.directories) listen_on_unix(directory, unix_sockets);
  if (listeners_.empty()) throw std::runtime_error("nothing to listen on: server.listen and server.unix_socket_directories are empty");
}

Listeners::Listeners(asio::io_context& context, const std::vector<int>& sockets, Rules rules, std::uint16_t default_port)
    : context_(context), rules_(rules) {
  for (const int socket : sockets) take_socket(socket);
  if (port_ == 0) port_ = default_port;
}

/// A name may have addresses that this machine cannot use (IPv6): one that works is enough.
void Listeners::listen_on_host(const ListenAddress& wanted) {
  std::optional<std::string> failure;
  bool is_heard = false;
  for (tcp::endpoint endpoint : resolve(context_, wanted)) {
    if (!rules_.serves_others && !endpoint.address().is_loopback()) throw serves_this_machine_only(wanted.host);
    if (is_heard && wanted.port == 0) endpoint.port(port_);
    try {
      listen_on_tcp(endpoint);
      is_heard = true;
    } catch (const boost::system::system_error& error) {
      failure = fmt::format("cannot listen on {}: {}", place(endpoint), error.code().message());
    }
  }
  if (!is_heard) throw std::runtime_error(*failure);
  if (failure) spdlog::warn("{}", *failure);
}

void Listeners::listen_on_tcp(const tcp::endpoint& endpoint) {
  Acceptor acceptor(context_);
  acceptor.open(asio::generic::stream_protocol(endpoint.protocol()));
  acceptor.set_option(tcp::acceptor::reuse_address(true));
  if (rules_.shares_ports) acceptor.set_option(asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>(true));
  // An address of IPv6 never serves IPv4 clients as well: rules and counts see one form of each address.
  if (endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true));
  acceptor.bind(endpoint);
  acceptor.listen(asio::socket_base::max_listen_connections);
  tcp::endpoint bound = endpoint;
  const auto generic = acceptor.local_endpoint();
  std::memcpy(bound.data(), generic.data(), std::min(generic.size(), bound.capacity()));
  if (port_ == 0) port_ = bound.port();
  addresses_.push_back(place(bound));
  listeners_.push_back({std::move(acceptor), asio::steady_timer(context_)});
}

void Listeners::take_socket(int descriptor) {
  const auto refuse = [&](std::string_view reason) {
    throw std::runtime_error(fmt::format("the socket {} that the service manager has passed {}", descriptor, reason));
  };
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  const bool is_stream = socket_option(descriptor, SOL_SOCKET, SO_TYPE) == SOCK_STREAM && socket_option(descriptor, SOL_SOCKET, SO_ACCEPTCONN) == 1;
  if (!is_stream || ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) refuse("is no listening stream socket");
  if (bound.ss_family == AF_UNIX) {
    asio::local::stream_protocol::endpoint endpoint;
    std::memcpy(endpoint.data(), &bound, std::min<std::size_t>(size, endpoint.capacity()));
    endpoint.resize(size);
    addresses_.push_back(endpoint.path());
  } else if (bound.ss_family == AF_INET || bound.ss_family == AF_INET6) {
    tcp::endpoint endpoint;
    std::memcpy(endpoint.data(), &bound, std::min<std::size_t>(size, endpoint.capacity()));
    endpoint.resize(size);
    const bool is_mixed = bound.ss_family == AF_INET6 && socket_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY) == 0 && endpoint.address().is_unspecified();
    if (is_mixed) refuse("serves IPv4 and IPv6 at once: set BindIPv6Only=ipv6-only");
    if (!rules_.serves_others && !endpoint.address().is_loopback()) throw serves_this_machine_only(endpoint.address().to_string());
    if (port_ == 0) port_ = endpoint.port();
    addresses_.push_back(place(endpoint));
  } else {
    refuse("belongs neither to TCP nor to the file system");
  }
  Acceptor acceptor(context_);
  acceptor.assign(asio::generic::stream_protocol(bound.ss_family, 0), descriptor);
  listeners_.push_back({std::move(acceptor), asio::steady_timer(context_)});
}

void Listeners::listen_on_unix(const std::filesystem::path& directory, const UnixSocketOptions& options) {
  auto file = std::make_unique<SocketFile>(directory, port_);
  const std::string path = file->path().string();
  Acceptor acceptor(context_);
  boost::system::error_code failure;
  acceptor.open(asio::generic::stream_protocol(asio::local::stream_protocol()));
  acceptor.bind(asio::local::stream_protocol::endpoint(path), failure);
  if (failure) throw std::runtime_error(fmt::format("cannot listen on \"{}\": {}", path, failure.message()));
  const bool is_owned = options.group.empty() || ::chown(path.c_str(), static_cast<uid_t>(-1), group_number(options.group)) == 0;
  if (!is_owned) throw std::runtime_error(fmt::format("server.unix_socket_group: \"{}\": {}", path, std::strerror(errno)));
  // Clients cannot connect before `listen`.
  if (::chmod(path.c_str(), options.permissions) != 0) throw std::runtime_error(fmt::format("cannot set permissions of \"{}\": {}", path, std::strerror(errno)));
  acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) throw std::runtime_error(fmt::format("cannot listen on \"{}\": {}", path, failure.message()));
  addresses_.push_back(path);
  files_.push_back(std::move(file));
  listeners_.push_back({std::move(acceptor), asio::steady_timer(context_)});
}

void Listeners::close() {
  boost::system::error_code ignored;
  for (Listener& listener : listeners_) {
    listener.acceptor.close(ignored);
    listener.pause.cancel();
  }
  files_.clear();
}

}  // namespace redquel::server
