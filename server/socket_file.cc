#include "server/socket_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>

namespace redquel::server {

namespace {

constexpr std::size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;

/// Returns true if a server accepts connections there.
bool is_served(const std::filesystem::path& path) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.string().size());
  const bool is_connected = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  ::close(probe);
  return is_connected;
}

}  // namespace

SocketFile::SocketFile(const std::filesystem::path& directory, std::uint16_t port)
    : path_(directory / fmt::format(".s.PGSQL.{}", port)), lock_path_(path_.string() + ".lock"), port_(port) {
  if (path_.string().size() > kLongestPath) {
    throw std::runtime_error(fmt::format("unix socket path \"{}\" is too long (maximum {} bytes)", path_.string(), kLongestPath));
  }
  lock();
  try {
    remove_stale();
  } catch (...) {
    ::unlink(lock_path_.c_str());
    ::close(lock_);
    throw;
  }
}

SocketFile::~SocketFile() {
  ::unlink(path_.c_str());
  ::unlink(lock_path_.c_str());
  ::close(lock_);
}

/// Holds the lock of the file that stands at the path: a file that its last owner has removed meanwhile locks nothing.
void SocketFile::lock() {
  while (true) {
    lock_ = ::open(lock_path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock_ < 0) throw std::runtime_error(fmt::format("cannot write \"{}\": {}", lock_path_.string(), std::strerror(errno)));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      ::close(lock_);
      throw std::runtime_error(fmt::format("another server uses \"{}\"", path_.string()));
    }
    struct stat held{}, named{};
    const bool is_named = ::fstat(lock_, &held) == 0 && ::lstat(lock_path_.c_str(), &named) == 0 && held.st_ino == named.st_ino;
    if (is_named) break;
    ::close(lock_);
  }
  // PostgreSQL's lines: process, data directory, start, port, directory of the socket.
  const std::string text = fmt::format("{}\n\n{}\n{}\n{}\n", ::getpid(), std::time(nullptr), port_, path_.parent_path().string());
  if (::ftruncate(lock_, 0) != 0 || ::write(lock_, text.data(), text.size()) < 0) {
    const std::string reason = std::strerror(errno);
    ::close(lock_);
    throw std::runtime_error(fmt::format("cannot write \"{}\": {}", lock_path_.string(), reason));
  }
}

void SocketFile::remove_stale() {
  struct stat status{};
  if (::lstat(path_.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) throw std::runtime_error(fmt::format("\"{}\" is no socket", path_.string()));
  if (is_served(path_)) throw std::runtime_error(fmt::format("another server uses \"{}\"", path_.string()));
  if (::unlink(path_.c_str()) != 0) throw std::runtime_error(fmt::format("cannot remove \"{}\": {}", path_.string(), std::strerror(errno)));
}

}  // namespace redquel::server
