#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "executor/runtime/temporary_file.h"
#include "executor/storage/placed_table.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

// Locks of rows and unique values, held by open transactions, seen by every write: sql::kLocksPrefix, kProcessPrefix and kWaitsKey.
// A field is "r" and the row's member, "u" and a unique value (key of its hash, zero byte, field), or "t", the table.

/// Row lock strengths of PostgreSQL's manual, section 13.3.2. Two of them conflict when their sum is 5 or more.
enum class LockMode : std::uint8_t { kKeyShare = 1, kShare = 2, kNoKeyUpdate = 3, kUpdate = 4 };

inline std::string lock_key(const PlacedTable& table) { return own_key(table.tag(), sql::kLocksPrefix) + std::to_string(table.oid()); }
/// The lease of a process. Each bucket in which the process has locks has one.
inline std::string process_key(std::string_view process, std::string_view tag = sql::home_tag()) {
  return own_key(tag, sql::kProcessPrefix).append(process);
}
inline std::string row_lock_field(std::string_view member) { return "r" + std::string(member); }
inline std::string value_lock_field(std::string_view uniques_key, std::string_view field) {
  std::string text = "u" + std::string(uniques_key);
  text += '\0';
  text += field;
  return text;
}

/// The locks of one transaction. Row locks beyond some thousand wait in a temporary file.
class LockSet {
 public:
  using Fields = std::map<PlacedTable, std::set<std::string>>;

  std::string token;  // 16 hex digits of the process, '.', the transaction's number, '.', the session's pid

  std::string process() const { return token.substr(0, token.find('.')); }
  bool empty() const { return size() == 0; }
  /// Returns the number of locks; one that was taken again after it had gone to the file counts twice.
  std::size_t size() const { return kept_size_ + recent_size_ + filed_; }
  /// Returns the number of one table's locks that `add` has recorded.
  std::size_t count_kept(const PlacedTable& table) const;

  void add(const PlacedTable& table, std::string field);
  /// Those that `add` has noted.
  bool contains(const PlacedTable& table, const std::string& field) const;
  void remove(const PlacedTable& table, const std::string& field);
  /// Adds the lock of a row or value that a statement writes or locks.
  void add_written(const PlacedTable& table, std::string field);
  /// Nothing is held any more.
  void clear();
  /// All of them, and nothing is left here but the token.
  LockSet take();

  /// The locks, part by part. Throws 58030 where the temporary file cannot be read.
  std::size_t parts() const { return 2 + blocks_.size(); }
  Fields part(std::size_t number) const;
  /// Returns true if one lock may be in several parts.
  bool may_repeat() const { return !blocks_.empty(); }

 private:
  static constexpr std::size_t kRecentLocks = 10'000;
  void spill();

  Fields kept_, recent_;
  std::size_t most_recent_ = kRecentLocks;
  std::size_t kept_size_ = 0, recent_size_ = 0, filed_ = 0;
  std::shared_ptr<SpillFile> file_;
  std::vector<SpillFile::Block> blocks_;
};

/// The owner of a token.
struct LockOwner {
  std::int64_t number = 0, pid = 0;
};
LockOwner owner_of(std::string_view token);
/// Returns the waiting session, which waits for one thing at a time: it may have a token for its transaction and one for its advisory
/// locks. Without a pid, returns the token itself.
std::string session_of(std::string_view token);

/// A lock of another owner that blocks; or, with sql::kExclusiveKey and a table's oid as field, a unit that has the table for itself.
struct LockConflict {
  std::string holder, key, field;
};

/// A statement met one: nothing was written and nothing locked; to be run again when the lock is gone. Never reaches a client.
struct LockedByOther {
  LockConflict conflict;
};

}  // namespace redquel::executor
