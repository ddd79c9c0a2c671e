#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace redquel::server {

/// One line of a terminal that shows how far a long walk over keys is. It is gone with this object.
class ProgressLine {
 public:
  /// A file that is no terminal gets nothing.
  explicit ProgressLine(std::FILE* file);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const { return is_terminal_; }
  /// Writes the line anew, at most five times a second.
  void show(std::size_t walked, std::size_t all);

 private:
  using Clock = std::chrono::steady_clock;
  std::FILE* file_;
  bool is_terminal_;
  Clock::time_point began_ = Clock::now(), shown_;
};

/// Returns the text of the line: a bar, the keys, the rate and an estimate of the rest.
std::string progress_text(std::size_t walked, std::size_t all, std::chrono::duration<double> taken);

}  // namespace redquel::server
