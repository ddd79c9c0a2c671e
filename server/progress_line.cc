#include "server/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace redquel::server {

namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::chrono::milliseconds kPause{200};

/// Returns 1234567 as 1,234,567.
std::string grouped(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::size_t>(seconds + 0.5);
  return whole < 120 ? fmt::format("{} s", whole) : fmt::format("{} min", (whole + 30) / 60);
}

}  // namespace

std::string progress_text(std::size_t walked, std::size_t all, std::chrono::duration<double> taken) {
  const double part = all == 0 ? 0 : static_cast<double>(std::min(walked, all)) / static_cast<double>(all);
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  const double rate = taken.count() > 0 ? static_cast<double>(walked) / taken.count() : 0;
  std::string text = fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {} of {} keys, {} a second", "", filled, "", kBarWidth - filled, part * 100, grouped(walked),
                                 grouped(all), grouped(static_cast<std::size_t>(rate)));
  if (rate > 0 && walked < all) text += ", " + duration_text(static_cast<double>(all - walked) / rate) + " left";
  return text;
}

ProgressLine::ProgressLine(std::FILE* file) : file_(file), is_terminal_(isatty(fileno(file)) == 1) {}

ProgressLine::~ProgressLine() {
  if (!is_terminal_) return;
  std::fputs("\r\033[K", file_);
  std::fflush(file_);
}

void ProgressLine::show(std::size_t walked, std::size_t all) {
  const Clock::time_point now = Clock::now();
  if (!is_terminal_ || now - shown_ < kPause) return;
  shown_ = now;
  fmt::print(file_, "\r{}\033[K", progress_text(walked, all, now - began_));
  std::fflush(file_);
}

}  // namespace redquel::server
