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
    std::chrono::steady_clock::time_point since;
    bool is_waiting = false;  // for bytes of the client; else redquel is at work
  };

  explicit StartupSlots(std::size_t most) : most_(most) {}

  bool is_full() const;
  /// Takes a slot, full or not. Returns its number.
  std::uint64_t add(std::size_t worker, std::string address);
  void set_waiting(std::uint64_t number, bool is_waiting);
  /// Gives the slot back; without effect where it was taken away.
  void remove(std::uint64_t number);
  /// Takes away the oldest slot that waits for its client, if it is as old as `patience`. A client that sends a byte now and then does not keep
  /// its slot by that. Of several addresses, the one with most slots loses one. nullopt: redquel itself is what the slots wait for.
  std::optional<Slot> take_silent(std::chrono::milliseconds patience);

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::list<Slot> slots_;  // oldest first
  std::uint64_t next_number_ = 1;
};

}  // namespace redquel::server
