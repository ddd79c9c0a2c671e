#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "executor/storage/placed_table.h"

namespace redquel::executor {

/// A change of definitions as a commit over several buckets: the part of each bucket, in the form of scripts/shared/definitions.lua.
class DefinitionParts {
 public:
  /// Nothing changes unless a key or field has this value; "": absent.
  void expect_value(const std::string& key, std::string value);
  void expect_field(const std::string& hash, std::string field, std::string value);
  /// Like expect_field(); the field may be absent.
  void expect_field_or_none(const std::string& hash, std::string field, std::string value);
  /// No unit has the table for itself, and no unit writes it from prepare to apply. `field`: the table's oid, or kDefinitionsField.
  void take(std::string_view tag, std::string field);
  /// Adds a command of the bucket of its first key. "@rename" is RENAME of a key that may be absent.
  void run(std::vector<std::string> command);
  /// Adds a command that runs when the change is prepared, and stays if it is aborted.
  void run_early(std::vector<std::string> command);
  /// Adds a command with any number of words behind its key, in several pieces.
  void run_pieces(std::string_view command, const std::string& key, const std::vector<std::string>& words);

  /// Returns true if other buckets than the home bucket take part.
  bool has_others() const;
  std::vector<int> buckets() const;
  std::map<int, std::vector<std::string>> words() const;

 private:
  struct Part {
    std::vector<std::string> checks, fields, commands;
  };
  Part& part_of(std::string_view key) { return parts_[sql::bucket_of(key)]; }
  void expect(std::string kind, const std::string& key, std::string field, std::string value);

  std::map<int, Part> parts_;
};

/// The field of kExclusiveKey that a change of definitions over several buckets holds in the home bucket.
inline constexpr std::string_view kDefinitionsField = "0";

}  // namespace redquel::executor
