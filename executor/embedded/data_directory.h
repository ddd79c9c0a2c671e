#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "executor/embedded/child_process.h"

namespace redquel::executor {

/// A lock on a file (flock): held until the last descriptor of it is closed, in whichever process, or its holders die.
class FileLock {
 public:
  /// Returns nullopt while another process holds it. Throws std::runtime_error if the file cannot be opened for writing.
  static std::optional<FileLock> try_lock(const std::filesystem::path& file);

  int descriptor() const { return descriptor_.get(); }

 private:
  explicit FileLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

/// The directory that an embedded server's data live in, owned by one redquel as long as this object lives.
///
///   lock            held by the redquel process; holds its pid
///   redis.lock      held by redis-server (inherited), so it outlives a killed redquel exactly as long as the server
///   does redis.pid       written by redis-server redis.running   there from before a start until a clean end: found at
///   a start, the end was unclean redis.sock, redis.log, appendonlydir/
class DataDirectory {
 public:
  /// Makes it (0700) if need be and locks it. Throws std::runtime_error: in use (with the pid), not writable, open to other users.
  explicit DataDirectory(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path socket() const { return path_ / "redis.sock"; }
  std::filesystem::path log() const { return path_ / "redis.log"; }

  /// The lock for the next server. A server that still runs here (its redquel was killed) is ended first: SIGTERM, and
  /// SIGKILL after `timeout`. It is not adopted: it would not end with us, and its settings may differ.
  FileLock lock_for_server(std::chrono::milliseconds timeout) const;

  bool ended_unclean() const;
  void mark_running() const;
  void mark_clean() const;

 private:
  std::optional<pid_t> server_left_behind() const;

  std::filesystem::path path_;
  std::optional<FileLock> lock_;
};

}  // namespace redquel::executor
