#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redquel::server {

/// The service manager that has started the process (systemd), by the protocols of sd_notify(3) and sd_listen_fds(3). Without one, nothing
/// is sent and no socket is there.
class Supervisor {
 public:
  /// Takes what the environment says of the manager, and removes it from there: children must not speak for this process. While there is
  /// one thread.
  Supervisor();

  /// Sends lines such as "READY=1". A manager that does not listen any more is ignored.
  void notify(std::string_view lines) const;
  /// Sends RELOADING=1 with the moment that the manager asks for.
  void notify_reloading() const;
  /// Returns how often WATCHDOG=1 has to come; nullopt: the manager does not ask for it.
  std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }
  /// Returns the descriptors of listening sockets that the manager has opened. The caller owns them.
  std::vector<int> take_sockets() { return std::exchange(sockets_, {}); }

 private:
  std::string socket_;  // the manager's; empty: none. A leading '@' stands for the abstract namespace
  std::optional<std::chrono::microseconds> watchdog_;
  std::vector<int> sockets_;
};

}  // namespace redquel::server
