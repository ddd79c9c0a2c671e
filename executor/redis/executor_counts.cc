#include "executor/redis/executor_counts.h"

#include <algorithm>

namespace redquel::executor {

namespace {

thread_local ExecutorCounts* named_counts = nullptr;

/// Codes of errors are upper-case words. What another program's script says has none.
bool is_code(std::string_view word) {
  constexpr std::size_t kLongest = 20;
  return !word.empty() && word.size() <= kLongest && std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

void ExecutorCounts::note_script(std::string_view name, std::uint64_t duration) {
  const auto found = scripts_.find(name);
  if (found != scripts_.end()) return found->second->note(duration);
  auto durations = std::make_unique<sql::DurationHistogram>();
  durations->note(duration);
  const std::lock_guard lock(mutex_);
  scripts_.emplace(name, std::move(durations));
}

void ExecutorCounts::note_error(std::string_view reply) {
  constexpr std::size_t kMostCodes = 50;  // scripts of other programs may make up any number
  const std::string_view word = reply.substr(0, reply.find(' '));
  const std::string code = is_code(word) && (errors_.size() < kMostCodes || errors_.contains(std::string(word))) ? std::string(word) : "other";
  const std::lock_guard lock(mutex_);
  ++errors_[code];
}

ExecutorCounts& counts_of_thread() {
  thread_local ExecutorCounts unnamed;
  return named_counts == nullptr ? unnamed : *named_counts;
}

void set_counts_of_thread(ExecutorCounts& counts) { named_counts = &counts; }

}  // namespace redquel::executor
