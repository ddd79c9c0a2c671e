#include "server/startup_slots.h"

#include <algorithm>
#include <map>

namespace redquel::server {

bool StartupSlots::is_full() const {
  const std::lock_guard lock(mutex_);
  return slots_.size() >= most_;
}

std::uint64_t StartupSlots::add(std::size_t worker, std::string address) {
  const std::lock_guard lock(mutex_);
  slots_.push_back({next_number_, worker, std::move(address), std::chrono::steady_clock::now()});
  return next_number_++;
}

void StartupSlots::set_waiting(std::uint64_t number, bool is_waiting) {
  const std::lock_guard lock(mutex_);
  const auto slot = std::ranges::find(slots_, number, &Slot::number);
  if (slot != slots_.end()) slot->is_waiting = is_waiting;
}

void StartupSlots::remove(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  slots_.remove_if([number](const Slot& slot) { return slot.number == number; });
}

std::optional<StartupSlots::Slot> StartupSlots::take_silent(std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  std::map<std::string_view, std::size_t> counts;
  for (const Slot& slot : slots_) ++counts[slot.address];
  const auto now = std::chrono::steady_clock::now();
  auto chosen = slots_.end();
  for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
    if (!slot->is_waiting || now - slot->since < patience) continue;
    if (chosen == slots_.end() || counts[slot->address] > counts[chosen->address]) chosen = slot;
  }
  if (chosen == slots_.end()) return std::nullopt;
  Slot taken = std::move(*chosen);
  slots_.erase(chosen);
  return taken;
}

}  // namespace redquel::server
