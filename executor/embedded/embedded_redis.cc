#include "executor/embedded/embedded_redis.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "executor/embedded/append_only_file.h"
#include "executor/embedded/data_directory.h"
#include "executor/embedded/server_probe.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstRestartPause(100);
constexpr milliseconds kLongestRestartPause(10'000);
constexpr std::chrono::seconds kLongLife(30);  // a server that lived so long is restarted without a pause

/// The reason for each setting; the rest are Redis's defaults.
std::vector<std::pair<std::string, std::string>> chosen_settings() {
  return {
      {"port", "0"},                 // the unix socket only: for redquel and redis-cli on this machine
      {"unixsocket", "redis.sock"},  // relative to the working directory: a long path would be refused
      {"unixsocketperm", "700"},
      {"daemonize", "no"},
      {"pidfile", "redis.pid"},
      {"logfile", ""},  // stdout, which is DATA/redis.log
      {"dir", "./"},
      {"appendonly", "yes"},
      {"appendfsync", "everysec"},
      // The append-only file holds everything; snapshots beside it would only cost a fork each.
      {"save", ""},
      // A torn file never gets as far as Redis, which would cut it inside a MULTI block (append_only_file.h).
      {"aof-load-truncated", "no"},
      {"maxmemory-policy", "noeviction"},  // an evicted key is a lost row
      {"databases", "256"},  // one for each database; Redis's default is 16
      // Rows stay compact with text of up to a kilobyte, index sets with integer members up to 64 k of them.
      {"hash-max-listpack-value", "1024"},
      {"set-max-intset-entries", "65536"},
  };
}

std::vector<std::string> server_command(const EmbeddedRedisOptions& options) {
  std::vector<std::string> command = {options.server_program};
  auto settings = chosen_settings();
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  for (const auto& [name, value] : settings) {
    command.push_back("--" + name);
    command.push_back(value);
  }
  return command;
}

}  // namespace

/// One embedded server over all its restarts.
class EmbeddedRedis::Supervisor {
 public:
  explicit Supervisor(EmbeddedRedisOptions options)
      : options_(std::move(options)),
        directory_(options_.data_directory),
        stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!stop_event_) throw std::runtime_error("could not make an eventfd");
    start_repaired();
  }

  ~Supervisor() { stop(); }

  void watch() {
    // Signals are for the main thread.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    watcher_ = std::thread([this] { keep_alive(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void stop() {
    stopping_ = true;
    [[maybe_unused]] const int woken = ::eventfd_write(stop_event_.get(), 1);
    if (watcher_.joinable()) watcher_.join();
    if (!server_) return;
    // SIGTERM may have come already: a child gets it when the thread that started it ends.
    server_->signal(SIGTERM);
    if (!server_->wait(options_.shutdown_timeout)) {
      spdlog::error("redis-server did not end within {} ms and is killed", options_.shutdown_timeout.count());
      server_->signal(SIGKILL);
      server_->wait(milliseconds(-1));
    }
    note_end();
  }

  std::filesystem::path socket() const { return directory_.socket(); }
  pid_t pid() const { return pid_; }

 private:
  /// After an unclean end the file is repaired first; should Redis still refuse it, the same once more.
  void start_repaired() {
    const bool unclean = directory_.ended_unclean();
    FileLock lock = directory_.lock_for_server(options_.shutdown_timeout);
    if (unclean) repair();
    try {
      start(std::move(lock));
    } catch (const std::runtime_error&) {
      if (unclean || stopping_ || !repair()) throw;
      start(directory_.lock_for_server(options_.shutdown_timeout));
    }
  }

  bool repair() {
    const std::string done = repair_append_only_file(directory_.path(), options_.check_program);
    if (!done.empty()) spdlog::warn("{}", done);
    return !done.empty();
  }

  void start(FileLock lock) {
    const Descriptor log(::open(directory_.log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log) throw std::runtime_error("could not write " + directory_.log().string());
    const auto log_start = std::filesystem::file_size(directory_.log());
    directory_.mark_running();
    ProcessSpec spec;
    spec.command = server_command(options_);
    spec.working_directory = directory_.path();
    spec.output = log.get();
    spec.inherited = lock.descriptor();
    ChildProcess server(spec);
    wait_until_ready(server, log_start);
    server_.emplace(std::move(server));
    pid_ = server_->pid();
    started_at_ = std::chrono::steady_clock::now();
  }

  /// Loading a large append-only file takes minutes: there is no limit while the server lives.
  void wait_until_ready(ChildProcess& server, std::uintmax_t log_start) {
    constexpr milliseconds kFirstPause(2);
    constexpr milliseconds kLongestPause(100);
    ServerProbe probe(directory_.path(), "redis.sock");
    for (milliseconds pause = kFirstPause; !probe.answers(server.pid()); pause = std::min(pause * 2, kLongestPause)) {
      if (server.wait(pause))
        throw std::runtime_error("redis-server " + server.end() + " at its start: " + log_since(log_start));
      if (stopping_) throw std::runtime_error("stopping");
    }
  }

  std::string log_since(std::uintmax_t offset) const {
    constexpr std::uintmax_t kShownBytes = 800;
    const auto size = std::filesystem::file_size(directory_.log());
    std::ifstream stream(directory_.log());
    stream.seekg(static_cast<std::streamoff>(std::max(offset, size > kShownBytes ? size - kShownBytes : 0)));
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }

  /// Records the end of server_.
  void note_end() {
    if (server_->ended_well()) directory_.mark_clean();
    pid_ = 0;
    server_.reset();
  }

  void keep_alive() {
    milliseconds pause = kFirstRestartPause;
    while (wait_for_end()) {
      spdlog::error("redis-server {}: restarting it", server_->end());
      if (std::chrono::steady_clock::now() - started_at_ > kLongLife) pause = kFirstRestartPause;
      note_end();
      while (!server_ && !stopping_) {
        try {
          start_repaired();
        } catch (const std::exception& error) {
          if (!stopping_) spdlog::error("could not restart redis-server: {}", error.what());
        }
        if (!server_ && wait_for_stop(pause)) return;
        pause = std::min(pause * 2, kLongestRestartPause);
      }
    }
  }

  /// True when the server has ended, false when we are to stop.
  bool wait_for_end() {
    if (!server_) return false;
    pollfd watched[] = {{stop_event_.get(), POLLIN, 0}, {server_->exit_descriptor(), POLLIN, 0}};
    while (::poll(watched, 2, -1) < 0) {
    }
    if (stopping_) return false;
    return server_->wait(milliseconds(-1));
  }

  bool wait_for_stop(milliseconds timeout) {
    pollfd watched{stop_event_.get(), POLLIN, 0};
    return ::poll(&watched, 1, static_cast<int>(timeout.count())) > 0;
  }

  const EmbeddedRedisOptions options_;
  DataDirectory directory_;
  Descriptor stop_event_;
  std::atomic<bool> stopping_ = false;
  std::atomic<pid_t> pid_ = 0;
  // Owned by the thread that watches, once there is one.
  std::optional<ChildProcess> server_;
  std::chrono::steady_clock::time_point started_at_;
  std::thread watcher_;
};

EmbeddedRedis::EmbeddedRedis(EmbeddedRedisOptions options)
    : supervisor_(std::make_unique<Supervisor>(std::move(options))) {}
EmbeddedRedis::~EmbeddedRedis() = default;
void EmbeddedRedis::supervise() { supervisor_->watch(); }
void EmbeddedRedis::stop() { supervisor_->stop(); }
pid_t EmbeddedRedis::pid() const { return supervisor_->pid(); }

RedisUrl EmbeddedRedis::url() const {
  RedisUrl url;
  url.place = UnixPlace{supervisor_->socket().string()};
  return url;
}

}  // namespace redquel::executor
