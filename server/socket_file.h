#pragma once

#include <cstdint>
#include <filesystem>

namespace redquel::server {

/// The place of a unix socket in a directory: `.s.PGSQL.<port>` and the lock file beside it, as PostgreSQL names them. Both are removed with
/// this object.
class SocketFile {
 public:
  /// Takes the place. The socket of a server that has died is removed. Throws std::runtime_error if another server lives there, or if the
  /// path is too long or cannot be written.
  SocketFile(const std::filesystem::path& directory, std::uint16_t port);
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  void lock();
  void remove_stale();

  std::filesystem::path path_, lock_path_;
  std::uint16_t port_;
  int lock_ = -1;
};

}  // namespace redquel::server
