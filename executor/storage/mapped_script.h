#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/storage/locks.h"

namespace redquel::executor {

class WriteProgram;
enum class StepKind : std::uint8_t;

/// Returns the key of the set of rows that redquel has written and that a declared structure, kept by the application, may lack. It lies
/// beside the catalog, for any logical database of the rows.
std::string unkept_key(sql::Oid table);

/// The changes of foreign tables' rows that one program makes.
class MappedWriteCall {
 public:
  /// `database`: the logical one in which the script begins, and whose catalog is meant.
  /// `token`: of the transaction whose changes they are; empty: none.
  MappedWriteCall(std::string catalog_version, int database, std::string token = {})
      : version_(std::move(catalog_version)), home_(database), token_(std::move(token)) {}

  using Words = std::vector<std::string>;
  /// Selects the logical database of the next parts.
  void select(int database);
  /// The command must give this text, or nil.
  void expect(const Words& command, std::string text);
  void expect_nil(const Words& command);
  /// Fields of one hash, each as a command HGET, must hold these texts.
  void expect_fields(const std::string& key, std::span<const Words> reads, std::span<const std::optional<std::string>> texts);
  /// The key is absent or of that type.
  void expect_type(const std::string& key, std::string_view type);
  /// A new entry of a stream gets an id ("5-1", "5-*"; "*": that of now), which must be greater than all others. Throws 22023.
  void add_entry(const std::string& key, const std::string& id);
  void command(const Words& words);
  /// Before all commands.
  void early_command(const Words& words);
  /// After all commands.
  void last_command(const Words& words);
  /// After all commands: so many seconds are left to the key; nullopt: it stays. Throws 22023 where the call says two things of one key.
  void expire(const std::string& key, std::optional<std::int64_t> seconds);
  /// Refuses if another owner has a lock on the row (see mapped_identity) that conflicts with this one.
  void respect_lock(sql::Oid table, const std::string& row, LockMode mode);
  /// Notes that structures which writes leave alone may lack the row (unkept_row), or that they have it again.
  void note_unkept(sql::Oid table, const std::string& row);
  void forget_unkept(sql::Oid table, const std::string& row);
  /// Takes a row out of all that Ohm has noted for it: the members of a set of keys of sets, the values of a hash of keys of hashes.
  void forget_indices(const std::string& noted_keys, const std::string& member);
  void forget_uniques(const std::string& noted_values);

  /// Returns the slot of a cluster in which all keys of the call lie, and one of them. nullopt: one Redis, or the call has no keys. The
  /// functions above throw 0A000, which names two keys, for a key of a second slot.
  struct Place {
    int slot;
    std::string key;
  };
  const std::optional<Place>& place() const { return place_; }

  bool empty() const { return checks_.empty() && early_commands_.empty() && commands_.empty() && forgotten_.empty(); }
  /// The whole change. `as_user`: it runs as another Redis user than redquel's own login.
  WriteProgram program(bool as_user = false) const;

  // In two parts: for a Redis user who may not read redquel's own keys, and for keys that lie in another slot than these.
  /// The keys whose change makes the guard's answer wrong.
  std::vector<std::string> watched_keys() const;
  /// Version and locks are as they must be. Notes rows that structures may lack.
  WriteProgram guard() const;
  /// The change behind the guard.
  WriteProgram guarded(bool as_user) const;
  /// Adds what is to be done after the write, by redquel's own login.
  void append_sequel(CommandBatch& batch) const;

 private:
  /// A step on a key of an application, in a logical database.
  struct Step {
    StepKind kind;
    Words words, list;
    int database;
  };
  using Steps = std::vector<Step>;
  void append(Steps& steps, StepKind kind, Words words, Words list);
  void note_place(const Words& words);
  void add_locks(WriteProgram& program) const;
  void add_steps(WriteProgram& program, bool with_notes) const;

  std::string version_;
  int home_;
  std::string token_;
  std::map<sql::Oid, std::map<std::string, LockMode>> locks_;  // by field
  int selected_ = home_;
  Steps checks_, early_commands_, commands_, last_commands_;
  std::size_t count_ = 0;
  using Notes = std::vector<std::pair<sql::Oid, std::string>>;
  Notes noted_, forgotten_;  // rows that structures may lack, or have again
  using Name = std::pair<int, std::string>;  // database, key
  std::map<Name, std::optional<std::int64_t>> expiries_;
  std::map<Name, std::string> entries_;  // the last one of each stream
  std::set<std::pair<Name, std::string>> types_;  // that are asked for
  std::optional<Place> place_;
};

}  // namespace redquel::executor
