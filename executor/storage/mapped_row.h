#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/storage/mapped_script.h"
#include "executor/storage/mapped_unit.h"
#include "sql/catalog/mapping.h"
#include "sql/error.h"

namespace redquel::executor {

/// A row's entry in a declared structure.
struct MappedEntry {
  std::string key, field, member;    // field: of a lookup that is a hash
  std::optional<std::string> value;  // of a zset the score, of a list what orders it
  bool operator==(const MappedEntry&) const = default;
};

/// One change of a mapped table as commands: what is read first, what must still be so, what is written. All of it is pure.
class MappedRow {
 public:
  using Row = std::span<const sql::Datum>;

  /// Throws 22023 where a value cannot stand in a key.
  MappedRow(const sql::TableDef& table, const MappedChange& change);

  /// Reads what is there now: so many commands.
  void append_reads(CommandBatch& batch);
  std::size_t read_count() const { return reads_.size(); }
  /// Takes their replies. kChanged: the row is not what the statement has read. kTaken: `violation` says what by. Values that other rows
  /// of the unit or the transaction release may be taken; those that the row takes are noted. Throws XX001.
  enum class Found { kAsRead, kChanged, kTaken };
  Found take_reads(std::span<const Reply> replies, bool bad_values_are_null, MappedLookups& lookups);
  const sql::SqlError& violation() const { return *violation_; }
  /// Returns true if the row's key is taken, not a value of a lookup.
  bool violates_key() const { return violates_key_; }
  void add_released(MappedLookups& lookups) const;
  void add_taken(MappedLookups& lookups) const;
  void append_writes(MappedWriteCall& call);
  /// Writes the row's entries in these structures, if the row still is what was read. For a change of which `before` and `after` are equal.
  void append_entries(MappedWriteCall& call, std::span<const sql::IndexDef* const> indexes);
  /// Requires that everything still is what was read.
  void append_checks(MappedWriteCall& call) const;
  /// Returns the row's entry; nullopt: it has none, because a column is NULL. Throws 22023.
  std::optional<MappedEntry> entry(const sql::IndexDef& index, Row row) const;

 private:
  using Words = MappedWriteCall::Words;

  std::optional<std::string> text(Row row, std::int16_t column) const;
  std::string key(Row row, std::string_view field = {}) const;
  const sql::Mapping::Column* with_role(sql::Mapping::Role role) const { return mapping_.with_role(role); }
  std::size_t position(std::int16_t column) const;
  bool is_increment(std::int16_t column) const;
  /// Returns the column's text in Redis, if the change adds to the column; nullptr: it does not.
  const std::optional<std::string>* found_text(std::int16_t column) const;
  std::string delta(std::int16_t column) const;
  /// The text of a column that must not be NULL.
  std::string required(Row row, const sql::Mapping::Column& column) const;
  std::string description(Row row) const;
  sql::SqlError duplicate(Row row, std::span<const std::int16_t> columns) const;
  bool same_text(const sql::Mapping::Column& column, std::optional<std::string_view> raw, const sql::Datum& value, bool bad_is_null) const;

  void add_reads();
  void write_fields(MappedWriteCall& call);
  void write_string(MappedWriteCall& call);
  void write_member(MappedWriteCall& call);
  void put_member(MappedWriteCall& call, const sql::Mapping::Column& name);
  void write_list(MappedWriteCall& call);
  void write_stream(MappedWriteCall& call);
  void write_ttl(MappedWriteCall& call, std::span<const std::string> keys);
  bool changes_ttl() const;
  bool is_same_beside_ttl() const;
  void write_ohm(MappedWriteCall& call);
  void note_for_ohm(MappedWriteCall& call, const sql::IndexDef& index, const std::optional<std::string>& old_key,
                    const std::optional<std::string>& new_key);
  /// Returns true if there is a row with the new key.
  bool is_key_taken(std::size_t own, std::size_t row_reads) const;
  bool is_as_read(std::size_t own, bool bad_values_are_null) const;
  std::string lookup_entry(const sql::IndexDef& index, Row row) const;
  void write_structure(MappedWriteCall& call, const sql::IndexDef& index);
  /// Notes the row if a structure that is not maintained may lack it from now on.
  void note_unkept(MappedWriteCall& call) const;
  /// Writes the entry in a zset or list.
  void write_ordered(MappedWriteCall& call, const sql::IndexDef& index, const std::optional<std::string>& old_key,
                     const std::optional<std::string>& new_key);
  void put(MappedWriteCall& call, const std::string& key, std::string_view type, const Words& words);
  std::optional<std::string> structure_key(const sql::IndexDef& index, Row row) const;
  /// A template of a structure's content with the row's values.
  std::string filled(const sql::KeyTemplate& content, Row row) const;
  /// Returns the member of the row in a structure.
  std::string member(const sql::IndexDef& index, Row row) const;
  /// The row's id in a model of Ohm.
  std::string ohm_id(Row row) const;
  std::string score(Row row, std::int16_t column) const;
  std::string entry_id(Row row) const;

  const sql::TableDef& table_;
  const sql::Mapping& mapping_;
  const MappedChange& change_;
  bool moves_ = false;  // another key or member
  bool adds_entries_alone_ = false;
  std::vector<Words> reads_;                           // of the row as it was, then of the one it becomes, then of lookups
  std::size_t own_reads_ = 0;                          // of the row as it was
  std::vector<std::optional<std::string>> found_;      // their answers, parallel to reads_
  std::vector<const sql::Mapping::Column*> fields_;    // of hash, strings
  struct Lookup {
    const sql::IndexDef* index;
    std::size_t read;  // in reads_
  };
  std::vector<Lookup> lookups_;
  std::optional<sql::SqlError> violation_;
  bool violates_key_ = false;
};

}  // namespace redquel::executor
