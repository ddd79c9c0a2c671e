#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "server/server.h"
#include "tests/unit/server/fake_engine.h"
#include "tests/unit/server/wire_client.h"

namespace redquel::server {

/// A server with fake engines on a free port, as long as the object lives.
class RunningServer {
 public:
  explicit RunningServer(const std::function<void(ServerOptions&)>& change = {}) {
    ServerOptions options;
    options.listen = {{"127.0.0.1", 0}};
    options.threads = 2;
    options.drain_time = std::chrono::milliseconds(500);
    if (change) change(options);
    server_ = std::make_unique<Server>(options, fake_engines(counters_));
    thread_ = std::thread([this] { clean_ = server_->run(); });
  }
  ~RunningServer() { stop(); }

  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
    EXPECT_TRUE(clean_);
    EXPECT_EQ(counters_->running, 0);
  }
  void ask_to_stop() { server_->stop(); }
  std::uint16_t port() const { return server_->port(); }
  FakeCounters& counters() { return *counters_; }
  std::unique_ptr<WireClient> client(std::vector<std::pair<std::string, std::string>> parameters = {}) {
    return WireClient::ready(port(), std::move(parameters));
  }

 private:
  std::shared_ptr<FakeCounters> counters_ = std::make_shared<FakeCounters>();
  std::unique_ptr<Server> server_;
  std::thread thread_;
  bool clean_ = true;
};

/// Waits until the condition holds; false after a minute.
inline bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace redquel::server
