#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>

namespace redquel::server {

/// The connections that have not said who they are, of all threads. Their number is bounded, so that silent ones take no place of others.
/// Any thread may call.
class StartupSlots {
 public:
  struct Slot {
    std::uint64_t number;
    std::size_t worker;  // the thread that serves it
    std::string address;
    std::optional<std::chrono::steady_clock::time_point> waits_since;  // for bytes of the client; none: redquel is at work
  };

  explicit StartupSlots(std::size_t most) : most_(most) {}

  bool is_full() const;
  /// Takes a slot, full or not. Returns its number.
  std::uint64_t add(std::size_t worker, std::string address);
  void set_waiting(std::uint64_t number, bool is_waiting);
  /// Gives the slot back; without effect where it was taken away.
  void remove(std::uint64_t number);
  /// Takes away the slot that has waited longest for its client, if that is `patience` or more. Of several addresses, the one with most
  /// slots loses one. nullopt: redquel itself is what the slots wait for.
  std::optional<Slot> take_silent(std::chrono::milliseconds patience);

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::list<Slot> slots_;  // oldest first
  std::uint64_t next_number_ = 1;
};

}  // namespace redquel::server
