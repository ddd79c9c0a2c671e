#include "executor/redis/discovery_progress.h"

#include <fmt/format.h>

namespace redquel::executor {

namespace {

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

void DiscoveryProgress::begin() {
  const std::lock_guard lock(mutex_);
  figures_ = {.is_running = true, .begun = Clock::now()};
}

void DiscoveryProgress::report(std::size_t walked, std::size_t all) {
  const std::lock_guard lock(mutex_);
  figures_.walked = walked;
  figures_.all = all;
}

void DiscoveryProgress::note_tables(std::size_t tables) {
  const std::lock_guard lock(mutex_);
  figures_.tables = tables;
}

void DiscoveryProgress::end() {
  const std::lock_guard lock(mutex_);
  figures_.is_running = false;
}

DiscoveryProgress::Figures DiscoveryProgress::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

std::string progress_text(const DiscoveryProgress::Figures& figures, DiscoveryProgress::Clock::time_point now) {
  std::string text = fmt::format("{} of {} keys", grouped(figures.walked), grouped(figures.all));
  if (figures.tables > 0) text += fmt::format(", {} tables", figures.tables);
  const double taken = std::chrono::duration<double>(now - figures.begun).count();
  const bool is_known = taken >= 1 && figures.walked > 0 && figures.walked < figures.all;
  if (is_known) {
    const double rate = static_cast<double>(figures.walked) / taken;
    text += fmt::format(", about {} left", duration_text(static_cast<double>(figures.all - figures.walked) / rate));
  }
  return text;
}

}  // namespace redquel::executor
