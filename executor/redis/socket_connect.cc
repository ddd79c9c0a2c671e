#include "executor/redis/socket_connect.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace redquel::executor {

namespace {

using boost::system::error_code;
using Endpoint = asio::generic::stream_protocol::endpoint;

constexpr std::size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;

/// Keeps the directory of a socket open, so that a long path can be named in short through /proc.
class SocketDirectory {
 public:
  explicit SocketDirectory(const std::filesystem::path& directory)
      : descriptor_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  ~SocketDirectory() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  SocketDirectory(const SocketDirectory&) = delete;
  SocketDirectory& operator=(const SocketDirectory&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  std::string short_path(const std::string& name) const {
    return "/proc/self/fd/" + std::to_string(descriptor_) + "/" + name;
  }

 private:
  int descriptor_;
};

asio::awaitable<error_code> connect_to(RedisSocket& socket, Endpoint endpoint) {
  error_code error;
  co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
  co_return error;
}

asio::awaitable<error_code> connect_unix(RedisSocket& socket, UnixPlace place) {
  if (place.path.size() <= kLongestSocketPath) {
    const asio::local::stream_protocol::endpoint endpoint(place.path);
    co_return co_await connect_to(socket, endpoint);
  }
  const std::filesystem::path path(place.path);
  const SocketDirectory directory(path.parent_path());
  if (!directory.is_open()) co_return error_code(errno, boost::system::system_category());
  const std::string short_path = directory.short_path(path.filename().string());
  if (short_path.size() > kLongestSocketPath) co_return asio::error::name_too_long;
  const asio::local::stream_protocol::endpoint endpoint(short_path);
  co_return co_await connect_to(socket, endpoint);
}

void tune_tcp(RedisSocket& socket) {
  constexpr int kIdleSeconds = 15;
  constexpr int kProbeSeconds = 5;
  constexpr unsigned kUnacknowledgedMilliseconds = 30'000;
  error_code ignored;  // tuning only
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const int descriptor = socket.native_handle();
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeSeconds, sizeof kProbeSeconds);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMilliseconds,
               sizeof kUnacknowledgedMilliseconds);
}

asio::awaitable<error_code> connect_tcp(RedisSocket& socket, TcpPlace place) {
  std::vector<asio::ip::tcp::endpoint> endpoints;
  error_code error;
  // Asio resolves names in a thread of its own; an address needs none.
  const asio::ip::address address = asio::ip::make_address(place.host, error);
  if (!error) {
    endpoints.emplace_back(address, place.port);
  } else {
    asio::ip::tcp::resolver resolver(socket.get_executor());
    const std::string port = std::to_string(place.port);
    const auto found =
        co_await resolver.async_resolve(place.host, port, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return error;
    for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  }
  error = asio::error::host_not_found;
  for (const asio::ip::tcp::endpoint& endpoint : endpoints) {
    error_code ignored;
    socket.close(ignored);
    error = co_await connect_to(socket, endpoint);
    if (!error) {
      tune_tcp(socket);
      break;
    }
    if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor)
      break;  // the attempt was given up
  }
  co_return error;
}

}  // namespace

asio::awaitable<error_code> connect_socket(RedisSocket& socket, RedisUrl url) {
  if (const auto* local = std::get_if<UnixPlace>(&url.place)) return connect_unix(socket, *local);
  return connect_tcp(socket, std::get<TcpPlace>(url.place));
}

}  // namespace redquel::executor
