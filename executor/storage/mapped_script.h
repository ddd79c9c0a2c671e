#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/script.h"

namespace redquel::executor {

/// The one script of writes to mapped tables: first it looks whether everything is as its caller has read it, only reading; then it
/// runs the commands. Reply: "applied", "stale", "conflict", or "type <key>" where a key is of another type than the caller needs.
const Script& mapped_write_script();
/// The same around the scripts that write rows of redquel's own tables (write_script.h), so that both happen or neither: ARGV is the number of
/// MappedWriteCall's arguments, these, then the arguments of the other script. Its reply, or {"mapped", reply} where the mapped
/// tables are not as they were read.
const Script& write_rows_and_mapped_script();
const Script& write_rows_catalog_and_mapped_script();

/// Arguments of the script.
class MappedWriteCall {
 public:
  /// `database`: the logical one in which the script begins, and whose catalog is meant.
  MappedWriteCall(std::string catalog_version, int database) : version_(std::move(catalog_version)), home_(database) {}

  using Words = std::vector<std::string>;
  /// What follows is about this logical database.
  void select(int database);
  /// The command must give this text, or nil.
  void expect(const Words& command, std::string text);
  void expect_nil(const Words& command);
  /// The key is absent or of that type.
  void expect_type(const std::string& key, std::string_view type);
  void command(const Words& words);
  /// Before all commands.
  void early_command(const Words& words);
  /// After all commands.
  void last_command(const Words& words);
  /// Takes a row out of all that Ohm has noted for it: the members of a set of keys of sets, the values of a hash of keys of hashes.
  void forget_indices(const std::string& noted_keys, const std::string& member);
  void forget_uniques(const std::string& noted_values);

  bool empty() const { return checks_.words.empty() && early_commands_.words.empty() && commands_.words.empty(); }
  std::vector<std::string> arguments() const;

 private:
  /// One of the lists of commands, each in the database where the one before ended.
  struct List {
    std::vector<std::string> words;
    int database;
  };
  void append(List& list, const Words& words);
  void append_check(const Words& words, std::string_view letter, std::string_view expected);

  std::string version_;
  int home_;
  int selected_ = home_;
  List checks_{{}, home_}, early_commands_{{}, home_}, commands_{{}, home_}, last_commands_{{}, home_};
  std::size_t check_count_ = 0;
};

}  // namespace redquel::executor
