#include "server/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace redquel::server {

using executor::DiscoveryProgress;

namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::chrono::milliseconds kPause{200};

}  // namespace

std::string line_text(const DiscoveryProgress::Figures& figures, DiscoveryProgress::Clock::time_point now) {
  const double part = figures.all == 0 ? 0 : static_cast<double>(std::min(figures.walked, figures.all)) / static_cast<double>(figures.all);
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {}", "", filled, "", kBarWidth - filled, part * 100, executor::progress_text(figures, now));
}

ProgressLine::ProgressLine(std::FILE* file) : file_(file), is_terminal_(isatty(fileno(file)) == 1) {}

ProgressLine::~ProgressLine() {
  if (!is_terminal_) return;
  std::fputs("\r\033[K", file_);
  std::fflush(file_);
}

void ProgressLine::show(const DiscoveryProgress::Figures& figures) {
  const DiscoveryProgress::Clock::time_point now = DiscoveryProgress::Clock::now();
  if (!is_terminal_ || now - shown_ < kPause) return;
  shown_ = now;
  fmt::print(file_, "\r{}\033[K", line_text(figures, now));
  std::fflush(file_);
}

}  // namespace redquel::server
