#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "executor/redis/keyspace_passes.h"
#include "executor/tables/mapped_reader.h"
#include "executor/tables/shared_keys.h"

namespace redquel::executor {

/// The keys of a mapped table, found by SCAN in bounded steps. The client gets a notice, or the scan is refused if
/// redquel.allow_keyspace_scan is off (55000).
class KeyspaceWalk {
 public:
  /// `fixed`: known values of slots, and of the member or field that alone is wanted of each key. Keys without these slots are skipped.
  /// `fence`: the walk is for a copy in memory, and checks which database answers (XX001: another one).
  KeyspaceWalk(const MappedReader& reader, ExecutionContext& context, const MappedKey& fixed, const FenceMark* fence = nullptr);

  bool is_over() const { return is_over_; }
  /// One SCAN: adds the keys it finds to the reader, each once.
  asio::awaitable<void> step(MappedReader& reader, ExecutionCounters* counters);
  /// One SCAN: returns the keys that it finds, each once.
  asio::awaitable<std::vector<MappedKey>> next(const MappedReader& reader, ExecutionCounters* counters);

 private:
  /// Returns the names of the keys that the next step finds. Some may be those of other tables, or come again.
  asio::awaitable<std::vector<std::string>> find(const MappedReader& reader, ExecutionCounters* counters);
  /// Returns true if a found key has the known slots.
  bool fits(const MappedKey& slots, const MappedReader& reader) const;
  asio::awaitable<RepliesPtr> ask(const MappedReader& reader, CommandBatch batch, ExecutionCounters* counters);

  ExecutionContext& context_;
  MappedKey fixed_;
  const FenceMark* fence_;
  std::string pattern_;
  std::unique_ptr<KeyspacePasses::Walk> walk_;
  std::shared_ptr<SharedKeys> shared_;    // of the statement, if this table takes its keys from there
  std::unordered_set<std::string> seen_;  // SCAN may give a key twice, and the strings of a row are several
  bool is_over_ = false, is_announced_ = false;
};

}  // namespace redquel::executor
