#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::executor {

/// The keys that a walk over the keyspace looks for: those that SCAN matches with a pattern, of one type unless it is empty.
struct WantedKeys {
  std::string pattern = "*", type = {};
};

/// Walks over the keyspace that statements of all threads share. A walk that begins while another one is on its way joins it at its place,
/// goes on with it to the end of the keyspace, and then from the beginning to where it has joined. SCAN's cursors lead through the hash table in the
/// order of their reversed bits, also where the table grows or shrinks meanwhile, so a key that is there all the time is met. If a
/// server gives cursors of another order, walks that have joined begin again, alone. Sans I/O; any thread may call.
class KeyspacePasses {
  struct Pass;
  struct State;

 public:
  struct Place {
    int database = 0;
    std::string user;  // of Redis
    auto operator<=>(const Place&) const = default;
  };
  /// The keys that one step has found. `is_typed`: they are of the wanted type. Some may match no more than the begin of the pattern.
  struct Found {
    std::vector<std::string> keys;
    bool is_typed = false;
  };
  /// The SCAN of a step; without MATCH or TYPE where a text is empty.
  struct Step {
    std::string cursor, pattern, type;
  };

  /// One statement's way through all keys. Other walks may take its steps, and it takes steps for them.
  class Walk {
   public:
    Walk(std::shared_ptr<State> state, std::shared_ptr<Pass> pass, WantedKeys wanted);
    ~Walk();
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    /// Returns true once all keys are found and taken.
    bool is_over() const;
    /// Returns what a step has found, if this walk has not taken it yet.
    std::optional<Found> take();
    /// Returns the step that is to be made now; nullopt while another walk makes one. `end_step` follows, or the end of the walk.
    std::optional<Step> begin_step();
    void end_step(std::string_view cursor, const std::vector<std::string>& keys);

   private:
    void pass_by(std::string_view cursor);
    void go_alone(std::string_view cursor);
    void take_in(const std::vector<std::string>& keys, bool is_typed);

    const std::shared_ptr<State> state_;
    std::shared_ptr<Pass> pass_;
    const WantedKeys wanted_;
    std::string beginning_;  // of all wanted keys
    std::uint64_t start_ = 0;
    bool awaits_step_ = false;  // it has joined while a step was on its way, and starts behind it
    bool has_wrapped_ = false, has_ended_ = false, makes_step_ = false;
    std::deque<Found> found_;
    std::size_t bytes_ = 0;  // of found_
  };

  KeyspacePasses();
  /// Begins a walk, or joins those of the same place.
  std::unique_ptr<Walk> join(const Place& place, WantedKeys wanted);
  /// Begins a walk that no other one joins.
  static std::unique_ptr<Walk> alone(WantedKeys wanted);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace redquel::executor
