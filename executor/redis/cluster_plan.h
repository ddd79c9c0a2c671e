#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/command_keys.h"
#include "executor/redis/reply.h"
#include "executor/redis/slot.h"

namespace redquel::executor {

/// A batch as a cluster can run it: its commands, or parts of them, each with the slot of its keys; and how their replies become those of the
/// batch. Sans I/O.
class ClusterPlan {
 public:
  /// Parts that one node runs together. The units of one node are sent in their order.
  struct Unit {
    std::size_t first = 0, count = 1;  // of the parts
    std::optional<Slot> slot;          // nullopt: any node may run it
    bool follows_ask = true;           // false: a script, or several commands (MULTI … EXEC), which wait until their slot has moved
    bool is_beside = false;            // SCRIPT LOAD: at each node that units go to
  };
  /// A command that takes several steps of its own: over all masters (SCAN, DBSIZE, RANDOMKEY, CLIENT LIST, SLOWLOG GET, LATENCY LATEST, PUBSUB NUMSUB), or
  /// algebra over sets in several slots.
  struct Special {
    std::size_t command;
    std::vector<std::string> words;
  };

  /// Takes the batch apart. Throws 0A000 that names two keys for a command whose keys lie in several slots, and which cannot be taken apart.
  static ClusterPlan of(CommandBatch batch);
  /// How several commands are one unit. A Redis whose memory is full refuses MULTI, but not a script that reads.
  enum class Snapshots : std::uint8_t { kMulti, kScripts };
  /// The batch as reads of one moment in each slot: MULTI … EXEC around the commands of each, or a script that runs them.
  static ClusterPlan of_snapshots(CommandBatch batch, Snapshots snapshots = Snapshots::kMulti);

  const CommandBatch& parts() const { return parts_; }
  /// Returns true if the unit changes nothing, so that it may be sent again after a connection was lost.
  bool only_reads(const Unit& unit) const;
  std::span<const Unit> units() const { return units_; }
  std::span<const Special> specials() const { return specials_; }
  /// All commands of the batch, by their numbers.
  const CommandNames& names() const { return names_; }
  std::size_t size() const { return answers_.size(); }

  /// Appends the replies to the commands of the batch, made of those to the parts (by number) and to the special commands. Texts stay where they
  /// are. Throws SqlError if a node refused a command of MULTI … EXEC, or answers what it never should.
  void merge(std::span<const Reply> parts, std::span<const Reply> specials, Replies& into) const;

 private:
  /// Where a reply is: that to a part, or an element of the one to EXEC or to a script.
  struct Source {
    std::size_t part = 0;
    std::optional<std::size_t> queued = {};
    std::size_t multi = 0;  // the part with MULTI, or with the script, if it is queued
  };
  struct Answer {
    enum class Kind : std::uint8_t { kOnly, kSum, kElements, kSpecial };
    Kind kind = Kind::kOnly;
    Source only = {};                                     // of kSpecial: the number of the special command
    std::vector<Source> several = {};                     // of kSum and kElements
    std::vector<std::vector<std::size_t>> elements = {};  // of kElements: which elements each of them gives
  };

  void add(std::span<const std::string_view> words);
  void add_by_slots(std::span<const std::string_view> words, const CommandKeys& keys);
  /// Begins a unit of so many parts, which must follow.
  Unit& begin_unit(std::size_t count);
  void add_part(std::span<const std::string_view> words);
  Reply reply_at(std::span<const Reply> parts, const Source& source) const;
  Reply sum_of(std::span<const Reply> parts, std::span<const Source> sources) const;
  Reply elements_of(std::span<const Reply> parts, const Answer& answer, Replies& into) const;

  CommandBatch parts_;
  std::vector<Unit> units_;
  std::vector<Answer> answers_;
  std::vector<Special> specials_;
  CommandNames names_;
};

/// The meaning of a node's error reply for a command.
enum class NodeVerdict : std::uint8_t {
  kAnswer,  // it has run, or never will
  kMoved,   // it has not run: another node has the slot
  kAsk,     // it has not run: its key is on the way to another node
  kLater,   // it has not run, and may be sent again
};
NodeVerdict verdict_of(const Reply& reply);

}  // namespace redquel::executor
