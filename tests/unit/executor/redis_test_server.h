#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "executor/embedded/child_process.h"
#include "executor/embedded/server_probe.h"
#include "executor/redis/url.h"

namespace redquel::executor {

/// A directory that goes away with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "redquel-unit-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A throw-away redis-server without persistence on a unix socket of its own.
class RedisTestServer {
 public:
  explicit RedisTestServer(std::vector<std::string> extra_arguments = {})
      : extra_arguments_(std::move(extra_arguments)) {
    start();
  }

  /// The one that tests share when they do not change it but for its keys.
  static RedisTestServer& shared() {
    static RedisTestServer server;
    return server;
  }

  void start() {
    ProcessSpec spec;
    spec.command = {"redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", "", "--appendonly", "no"};
    spec.command.insert(spec.command.end(), extra_arguments_.begin(), extra_arguments_.end());
    spec.working_directory = directory_.path();
    const Descriptor log(::open((directory_.path() / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    spec.output = log.get();
    process_.emplace(spec);
    const ServerProbe probe(directory_.path(), "redis.sock");
    while (!probe.listens(process_->pid())) {
      if (process_->wait(std::chrono::milliseconds(2))) throw std::runtime_error("redis-server ended at its start");
    }
  }
  void kill() {
    process_->signal(SIGKILL);
    process_->wait(std::chrono::milliseconds(-1));
    process_.reset();
  }
  void pause() { process_->signal(SIGSTOP); }
  void go_on() { process_->signal(SIGCONT); }

  RedisUrl url(int database = 0) const {
    RedisUrl url;
    url.place = UnixPlace{(directory_.path() / "redis.sock").string()};
    url.database = database;
    return url;
  }

 private:
  TemporaryDirectory directory_;
  std::vector<std::string> extra_arguments_;
  std::optional<ChildProcess> process_;
};

}  // namespace redquel::executor
