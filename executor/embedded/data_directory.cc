#include "executor/embedded/data_directory.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace redquel::executor {

namespace {

std::string read_first_word(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

void write_durably(const std::filesystem::path& file, const std::string& text) {
  const Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!descriptor || ::write(descriptor.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(descriptor.get()) != 0)
    throw std::runtime_error("could not write " + file.string() + ": " + std::strerror(errno));
  const Descriptor directory(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ::fsync(directory.get());
}

/// Sets the rights of a directory to 0700 that is redquel's own or empty. Throws where it belongs to another user, or is another directory
/// that others may enter.
void require_private(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) throw std::runtime_error(std::strerror(errno));
  if (found.st_uid != ::geteuid()) throw std::runtime_error("it belongs to another user");
  if ((found.st_mode & 077) == 0) return;
  if (!std::filesystem::is_empty(path) && !std::filesystem::exists(path / "lock")) {
    throw std::runtime_error("other users may enter it; permissions should be u=rwx (0700)");
  }
  if (::chmod(path.c_str(), 0700) != 0) throw std::runtime_error(std::strerror(errno));
  spdlog::warn("data directory {} was open to other users: its permissions are 0700 now", path.string());
}

}  // namespace

std::optional<FileLock> FileLock::try_lock(const std::filesystem::path& file) {
  Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!descriptor) throw std::runtime_error("could not open " + file.string() + ": " + std::strerror(errno));
  if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    throw std::runtime_error(std::string("could not lock ") + file.string() + ": " + std::strerror(errno));
  }
  return FileLock(std::move(descriptor));
}

DataDirectory::DataDirectory(const std::filesystem::path& path) {
  try {
    if (std::filesystem::create_directories(path))
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    path_ = std::filesystem::canonical(path);
    require_private(path_);
    lock_ = FileLock::try_lock(path_ / "lock");
  } catch (const std::filesystem::filesystem_error& error) {
    throw std::runtime_error("data directory \"" + path.string() + "\" cannot be made: " + error.code().message());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("data directory \"" + path.string() + "\" cannot be used: " + error.what());
  }
  if (!lock_) {
    const std::string holder = read_first_word(path_ / "lock");
    throw std::runtime_error("data directory \"" + path_.string() + "\" is in use by another redquel" +
                             (holder.empty() ? std::string() : " (process " + holder + ")"));
  }
  // In place: the lock hangs on this very file.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock_->descriptor(), 0) != 0 ||
      ::pwrite(lock_->descriptor(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    throw std::runtime_error("data directory \"" + path_.string() + "\" is not writable: " + std::strerror(errno));
}

std::optional<pid_t> DataDirectory::server_left_behind() const {
  const std::string word = read_first_word(path_ / "redis.pid");
  pid_t pid = 0;
  std::from_chars(word.data(), word.data() + word.size(), pid);
  if (pid <= 1) return std::nullopt;
  // The number may belong to another process by now: only one that works in this directory counts.
  std::error_code error;
  const auto directory = std::filesystem::read_symlink("/proc/" + word + "/cwd", error);
  if (error || directory != path_) return std::nullopt;
  return pid;
}

FileLock DataDirectory::lock_for_server(std::chrono::milliseconds timeout) const {
  constexpr std::chrono::milliseconds kPause(20);
  const auto start = std::chrono::steady_clock::now();
  bool asked = false;
  bool killed = false;
  while (true) {
    if (std::optional<FileLock> lock = FileLock::try_lock(path_ / "redis.lock")) return std::move(*lock);
    const std::optional<pid_t> left = server_left_behind();
    const auto waited = std::chrono::steady_clock::now() - start;
    if (left && !asked) {
      spdlog::warn("a redis-server (process {}) of an earlier redquel still runs in {}: ending it", *left,
                   path_.string());
      ::kill(*left, SIGTERM);
      asked = true;
    } else if (left && !killed && waited > timeout) {
      ::kill(*left, SIGKILL);
      killed = true;
    } else if (waited > timeout + std::chrono::seconds(5)) {
      throw std::runtime_error("a redis-server of an earlier redquel still runs in \"" + path_.string() +
                               "\" and cannot be ended");
    }
    std::this_thread::sleep_for(kPause);  // flock has no way to wait for a limited time
  }
}

bool DataDirectory::ended_unclean() const { return std::filesystem::exists(path_ / "redis.running"); }
void DataDirectory::mark_running() const {
  write_durably(path_ / "redis.running", "redquel " + std::to_string(::getpid()) + "\n");
}
void DataDirectory::mark_clean() const {
  std::error_code ignored;  // then the next start checks the file, in vain
  std::filesystem::remove(path_ / "redis.running", ignored);
}

}  // namespace redquel::executor
