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

/// Returns the key of the set of rows that redquel has written and that a declared structure, kept by the application, may lack. It lies
/// beside the catalog, for any logical database of the rows.
std::string unkept_key(sql::Oid table);

/// Arguments of mapped_write.lua, which describes them.
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

  bool empty() const { return checks_.words.empty() && early_commands_.words.empty() && commands_.words.empty() && forgotten_.empty(); }
  std::vector<std::string> arguments() const;

  // Like the guard above, for a Redis user who may not read redquel's own keys.
  /// The keys whose change makes the guard's answer wrong.
  std::vector<std::string> watched_keys() const;
  /// Arguments of guard_mapped_write.lua.
  std::vector<std::string> guard_arguments() const;
  /// Arguments of mapped_write_as_user.lua.
  std::vector<std::string> user_arguments() const;
  /// Adds what is to be done after the write, by redquel's own login.
  void append_sequel(CommandBatch& batch) const;

 private:
  /// One of the lists of commands, each in the database where the one before ended.
  struct List {
    std::vector<std::string> words;
    int database;
  };
  void append(List& list, const Words& words);
  void note_place(const Words& words);
  void append_lists(std::vector<std::string>& arguments);
  void append_locks(std::vector<std::string>& arguments) const;
  void append_check(const Words& words, std::string_view letter, std::string_view expected);

  std::string version_;
  int home_;
  std::string token_;
  std::map<sql::Oid, std::map<std::string, LockMode>> locks_;  // by field
  int selected_ = home_;
  List checks_{{}, home_}, early_commands_{{}, home_}, commands_{{}, home_}, last_commands_{{}, home_};
  std::size_t check_count_ = 0, command_count_ = 0;
  std::vector<std::pair<sql::Oid, std::string>> noted_, forgotten_;  // rows that structures may lack, or have again
  using Name = std::pair<int, std::string>;  // database, key
  std::map<Name, std::optional<std::int64_t>> expiries_;
  std::map<Name, std::string> entries_;  // the last one of each stream
  std::set<std::pair<Name, std::string>> types_;  // that are asked for
  std::optional<Place> place_;
};

}  // namespace redquel::executor
