#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "executor/redis/discovery_progress.h"

namespace redquel::server {

/// One line of a terminal that shows how far a discovery has come. It is gone with this object.
class ProgressLine {
 public:
  /// A file that is no terminal gets nothing.
  explicit ProgressLine(std::FILE* file);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const { return is_terminal_; }
  /// Writes the line anew, at most five times a second.
  void show(const executor::DiscoveryProgress::Figures& figures);

 private:
  std::FILE* file_;
  bool is_terminal_;
  executor::DiscoveryProgress::Clock::time_point shown_;
};

/// Returns the text of the line: a bar, and how far the discovery has come.
std::string line_text(const executor::DiscoveryProgress::Figures& figures, executor::DiscoveryProgress::Clock::time_point now);

}  // namespace redquel::server
