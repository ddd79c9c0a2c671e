#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "executor/embedded/child_process.h"

namespace redquel::executor {

/// Asks a redis-server on a unix socket whether it serves yet, before there is an event loop.
class ServerProbe {
 public:
  /// The directory may have a path of any length.
  ServerProbe(const std::filesystem::path& directory, std::string socket_name);

  /// True when the process `pid` listens there and answers PING with PONG (its data are loaded). Waits a second at
  /// most.
  bool answers(pid_t pid) const;
  /// True when it accepts connections, perhaps still loading.
  bool listens(pid_t pid) const { return static_cast<bool>(connect(pid)); }

 private:
  Descriptor connect(pid_t pid) const;

  Descriptor directory_;
  std::string socket_name_;
};

}  // namespace redquel::executor
