#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/tables/entry_ranges.h"
#include "planner/tree/physical_plan.h"
#include "sql/catalog/mapping.h"
#include "sql/column.h"

namespace redquel::executor {

/// Values of the slots, and of the column that identifies a row within its key if only one row is wanted, by column number.
using MappedKey = std::map<std::int16_t, sql::Datum>;

/// The elements of a list that are wanted, by position.
struct ListRange {
  static constexpr std::uint64_t kEnd = INT64_MAX;
  std::uint64_t first = 0, last = kEnd;
  std::uint64_t from_end = 0;  // not 0: so many of the last ones, in one step
};

/// One key (or, in layout strings, one row's keys) to be read.
struct MappedTarget {
  MappedKey values;
  std::size_t tag = 0;  // the caller's
  ListRange range = {};
};

/// The fence's key (memory/keeper.h), which identifies the logical database that answers, and its value.
struct FenceMark {
  std::string key, value;
};

/// Reads the rows of keys of a mapped table, in bounded steps, and makes values of their texts. Wrong kinds of keys and texts that are no
/// values of their columns end the statement, in an error that names key and field; redquel.on_bad_value makes NULLs of the latter or
/// leaves their rows out. Rows that the transaction has changed are left out, too: with_changed_rows gives them as they are for it.
class MappedReader {
 public:
  /// `read` outlives the reader.
  MappedReader(const planner::TableRead& read, ExecutionContext& context) : MappedReader(read, context, nullptr) {}
  /// A reader for a copy in memory. It returns the stored rows, regardless of the session's settings and changes. Keys of another kind
  /// have no rows. XX001 if another logical database answers.
  MappedReader(const planner::TableRead& read, ExecutionContext& context, const FenceMark* fence);

  /// When the keys of each tag expire, in milliseconds since 1970; absent: never. Only of readers for copies.
  const std::map<std::size_t, std::int64_t>& expiries() const { return expiries_; }

  const sql::TableDef& table() const { return *read_.table; }
  const sql::Mapping& mapping() const { return mapping_; }

  /// A target that no key can have (a slot's value that cannot stand in one) is left out.
  void add(MappedTarget target);
  /// A row of a set whose member is known to be there.
  void add_member_row(MappedKey slots, std::string_view member);
  /// Like add_row() for a member, for a member of a zset.
  void add_scored_row(MappedKey slots, std::string_view member, std::string_view score);
  bool is_idle() const { return waiting_.empty(); }
  /// Bounds the entries of streams that are read of the targets to come.
  void bound_entries(std::vector<EntryRange> ranges) { entries_ = std::move(ranges); }
  /// Says that about so many rows will be enough: the first steps read no more.
  void expect_rows(std::uint64_t rows);
  /// One step: a pipeline over as many targets as a chunk has rows.
  asio::awaitable<void> step(ExecutionCounters* counters);
  std::size_t rows() const { return tags_.size(); }
  /// The rows so far and the tags of their targets; starts anew.
  sql::Batch take_all(std::vector<std::size_t>& tags);
  /// The rows that satisfy the read's condition.
  sql::Batch take();

  /// Text of a column of a key; nullopt: not among its values.
  std::optional<std::string> text_of(const MappedKey& values, std::int16_t column) const;
  /// The key; nullopt: a slot is not fixed, or its value cannot stand in a key.
  std::optional<std::string> key_of(const MappedKey& values, std::string_view field = {}) const;
  /// The key by which a row goes: that of its first string in layout strings. `values` has all slots.
  std::string first_key_of(const MappedKey& values) const;
  /// The values of a key's slots; nullopt: it is none of the table's.
  std::optional<MappedKey> slots_of(std::string_view key) const;
  /// The columns' values, as a structure's content gives them; nullopt: it is none of the template's.
  std::optional<MappedKey> key_of_member(const sql::KeyTemplate& member, std::string_view text) const;
  /// XX001: what is at the key is no hash, set, …
  sql::SqlError wrong_kind(std::string_view key, std::string_view wanted, const Reply& error) const;

 private:
  enum class BadValue { kError, kNull, kSkip };
  struct Waiting {
    MappedTarget target;
    std::string key;
    std::string cursor = "0";  // of SSCAN and its like; of LRANGE: the position; of XRANGE: the last id
    EntryRange entries;        // of a stream
    bool asks_existence = false;
    enum class Names : std::uint8_t { kUncounted, kFew, kMany } names = Names::kUncounted;  // of hash_fields, where no value is wanted
    std::shared_ptr<std::unordered_set<std::string>> seen;
  };

  /// Returns true if a column holds a value of the key or a part of it. Otherwise no value is read, however large.
  bool wants_value() const;
  /// Counts the elements of large structures that the next step reads (tables/scan_budget.h).
  asio::awaitable<void> count_elements(const std::vector<Waiting>& asked);
  bool take_names(Waiting& waiting, const Reply& reply);
  void append_commands(CommandBatch& batch, const Waiting& waiting) const;
  std::size_t command_count(const Waiting& waiting) const;
  /// False: it needs another step.
  bool take_replies(Waiting& waiting, std::span<const Reply> replies);
  /// Notes when the keys of a row expire. XX001 where they do not expire together: the row would change by itself.
  void note_expiries(const Waiting& waiting, std::span<const Reply> replies);
  bool take_fields(Waiting& waiting, std::span<const Reply> replies);
  bool take_string(Waiting& waiting, std::span<const Reply> replies);
  bool take_members(Waiting& waiting, const Reply& reply);
  bool take_list(Waiting& waiting, std::span<const Reply> replies);
  bool take_stream(Waiting& waiting, const Reply& reply);
  /// `part`: the member or field that identifies a row within its key.
  void add_row(const Waiting& waiting, const std::vector<std::optional<std::string_view>>& texts, std::string_view part = {});
  bool is_changed(const Waiting& waiting, std::string_view part) const;
  /// Returns false for a member or a field's name that its value is not written as ("007" for 7): it is no row, as with keys.
  bool reads_back(std::string_view part) const;
  std::optional<std::size_t> position_of(sql::Mapping::Role role) const;
  /// Texts of a row's columns before there are any, but for the key's time to live.
  std::vector<std::optional<std::string_view>> no_texts() const;
  /// Keys whose times to live are asked for: the least of them counts.
  std::vector<std::string> expiring_keys(const Waiting& waiting) const;
  void start();

  const planner::TableRead& read_;
  const sql::Mapping& mapping_;
  ExecutionContext& context_;
  std::vector<const sql::Mapping::Column*> columns_;  // parallel to read_.numbers
  std::vector<sql::Type> types_;
  std::vector<std::string> fields_;                  // asked of each row (hash, strings)
  std::vector<std::optional<std::size_t>> field_of_;  // parallel to columns_
  const sql::Mapping::Column* checked_part_ = nullptr;  // the member or name, if texts of its values may differ
  bool wants_ttl_ = false;
  std::optional<std::string> ttl_;  // of the key whose replies are taken
  const FenceMark* fence_;           // null: the rows are for the statement itself
  std::map<std::size_t, std::int64_t> expiries_;
  std::shared_ptr<const TableChanges> changes_;  // of the transaction; null: none
  BadValue bad_value_ = BadValue::kError;
  std::deque<Waiting> waiting_;
  std::vector<EntryRange> entries_{EntryRange()};
  std::size_t page_;  // elements and keys of one step; grows
  std::vector<std::shared_ptr<sql::Column>> made_;
  std::vector<std::size_t> tags_;
};

}  // namespace redquel::executor
