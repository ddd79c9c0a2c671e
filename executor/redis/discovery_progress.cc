#include "executor/redis/discovery_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace redquel::executor {

std::string count_text(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::size_t>(seconds + 0.5);
  return whole < 120 ? fmt::format("{} s", whole) : fmt::format("{} min", (whole + 30) / 60);
}

void DiscoveryProgress::begin() {
  const std::lock_guard lock(mutex_);
  figures_ = Figures();
  figures_.state = State::kListing;
  figures_.begun = figures_.listing = Clock::now();
}

void DiscoveryProgress::enter(State state) {
  const std::lock_guard lock(mutex_);
  figures_.state = state;
}

void DiscoveryProgress::report(std::size_t walked, std::size_t all) {
  const std::lock_guard lock(mutex_);
  if (walked < figures_.walked) figures_.listing = Clock::now();
  figures_.walked = walked;
  figures_.all = all;
}

void DiscoveryProgress::note_tables(std::size_t tables, std::vector<sql::LeftOut> left_out) {
  const std::lock_guard lock(mutex_);
  figures_.tables = tables;
  left_out_ = std::make_shared<const std::vector<sql::LeftOut>>(std::move(left_out));
}

void DiscoveryProgress::end(State state, std::string error) {
  const std::lock_guard lock(mutex_);
  figures_.state = state;
  figures_.ended = Clock::now();
  figures_.error = std::move(error);
}

DiscoveryProgress::LeftOut DiscoveryProgress::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

DiscoveryProgress::Figures DiscoveryProgress::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

std::optional<std::chrono::duration<double>> time_left(const DiscoveryProgress::Figures& figures, DiscoveryProgress::Clock::time_point now) {
  const std::chrono::duration<double> taken = now - std::max(figures.begun, figures.listing);
  if (figures.state != DiscoveryProgress::State::kListing || taken.count() < 1 || figures.walked == 0 || figures.walked >= figures.all) return std::nullopt;
  return taken * static_cast<double>(figures.all - figures.walked) / static_cast<double>(figures.walked);
}

std::string progress_text(const DiscoveryProgress::Figures& figures, DiscoveryProgress::Clock::time_point now) {
  std::string text = fmt::format("{} of {} keys", count_text(figures.walked), count_text(figures.all));
  if (figures.tables > 0) text += fmt::format(", {} tables", figures.tables);
  if (const auto left = time_left(figures, now)) text += fmt::format(", about {} left", duration_text(left->count()));
  return text;
}

}  // namespace redquel::executor
