#include "executor/embedded/server_probe.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

namespace redquel::executor {

ServerProbe::ServerProbe(const std::filesystem::path& directory, std::string socket_name)
    : directory_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), socket_name_(std::move(socket_name)) {}

Descriptor ServerProbe::connect(pid_t pid) const {
  Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{1, 0};
  ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);

  // Through /proc, because a socket address has room for 107 bytes only.
  const std::string path = "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + socket_name_;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};

  // Checks that the peer is our child, not another process that took the socket.
  ucred peer{};
  socklen_t peer_size = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0 || peer.pid != pid) return {};
  return connection;
}

bool ServerProbe::answers(pid_t pid) const {
  const Descriptor connection = connect(pid);
  if (!connection) return false;

  constexpr std::string_view kPing = "PING\r\n";
  constexpr std::string_view kPong = "+PONG";
  if (::send(connection.get(), kPing.data(), kPing.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kPing.size()))
    return false;
  char answer[64];
  const ssize_t count = ::recv(connection.get(), answer, sizeof answer, 0);
  return count >= static_cast<ssize_t>(kPong.size()) && std::string_view(answer, kPong.size()) == kPong;
}

}  // namespace redquel::executor
