#include "server/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

namespace redquel::server {

namespace {

constexpr int kFirstPassedSocket = 3;
constexpr std::int64_t kMostPassedSockets = 64;

std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string taken = value == nullptr ? "" : value;
  ::unsetenv(name);
  return taken;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns true if the variable is not set, or names this process: others inherit the environment of a shell script.
bool is_meant(const std::string& process) { return process.empty() || number_of(process) == ::getpid(); }

}  // namespace

Supervisor::Supervisor() : socket_(take_variable("NOTIFY_SOCKET")) {
  const std::optional<std::int64_t> interval = number_of(take_variable("WATCHDOG_USEC"));
  const bool is_watched = is_meant(take_variable("WATCHDOG_PID"));
  if (interval && *interval > 0 && is_watched) watchdog_ = std::chrono::microseconds(*interval);

  const std::string process = take_variable("LISTEN_PID");
  const std::int64_t count = number_of(take_variable("LISTEN_FDS")).value_or(0);
  take_variable("LISTEN_FDNAMES");
  if (process.empty() || !is_meant(process)) return;
  for (int socket = kFirstPassedSocket; socket < kFirstPassedSocket + std::clamp<std::int64_t>(count, 0, kMostPassedSockets); ++socket) {
    if (::fcntl(socket, F_SETFD, FD_CLOEXEC) == 0) sockets_.push_back(socket);
  }
}

void Supervisor::notify(std::string_view lines) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const auto sent = ::sendto(descriptor, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address), size);
  if (sent < 0) spdlog::debug("the service manager does not take messages: {}", std::strerror(errno));
  ::close(descriptor);
}

void Supervisor::notify_reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000));
}

}  // namespace redquel::server
