#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/redis/discovery_progress.h"
#include "executor/redis/keyspace_passes.h"
#include "executor/redis/redis_share.h"

namespace redquel::executor {

/// The keys of redquel's own (definitions, roles) in memory, for a redquel that leaves nothing in the Redis it looks at. All threads share
/// it; any thread may call.
class OwnKeyspace {
 public:
  explicit OwnKeyspace(RedisShareLimits limits = {}) : share_(limits) {}

  /// Returns the pace of the bulk reads of the process.
  RedisShare& share() { return share_; }
  /// Returns how far the discovery at the start has come.
  DiscoveryProgress& discovery() { return discovery_; }
  /// Returns the walks over the keyspace that statements share.
  KeyspacePasses& passes() { return passes_; }
  /// Called with the texts of the statements that made a change, before the change takes effect. Throws to prevent it.
  using Keep = std::function<void(const std::vector<std::string>& statements)>;

  /// A change of the hash at `key` that is made only while the version is `base`.
  struct Commit {
    std::string base, version, key;
    std::vector<std::pair<std::string, std::string>> set;
    std::vector<std::string> deleted;
    std::vector<std::string> statements;
    std::optional<std::pair<std::string, std::uint64_t>> still_free = {};  // a field whose number must not be larger
  };

  /// Returns true if keys of this name are redquel's own.
  static bool owns(std::string_view key) { return key.starts_with("redquel:"); }

  /// Sets a field of a hash, as HSET does.
  void put(std::string_view key, std::string_view field, std::string value);
  /// Calls `keep` for each change from now on.
  void keep_changes(Keep keep);
  /// Returns the version of the definitions; empty: there are none yet.
  std::string version() const;
  /// Returns the answer to a reading command, in RESP. Keys that are not here are absent; writing commands get an error.
  std::string answer(std::span<const std::string_view> words) const;
  /// Returns false, and changes nothing, if another change came first.
  bool commit(Commit commit);
  /// Adds `count` to the number in a field, which begins at `first`. Returns the number before.
  std::uint64_t reserve(std::string_view key, std::string_view field, std::uint64_t first, std::uint64_t count);

 private:
  RedisShare share_;
  DiscoveryProgress discovery_;
  KeyspacePasses passes_;
  using Hash = std::map<std::string, std::string, std::less<>>;

  const Hash* find(std::string_view key) const;

  mutable std::mutex mutex_;
  std::string version_;
  std::map<std::string, Hash, std::less<>> hashes_;
  Keep keep_;
};

}  // namespace redquel::executor
