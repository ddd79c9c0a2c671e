#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/script.h"
#include "executor/storage/entry_effect.h"
#include "executor/storage/write_program.h"
#include "executor/storage/write_unit.h"
#include "sql/catalog/buckets.h"

namespace redquel::executor {

/// In the place of an absent field or owner: see the script. No text of PostgreSQL holds a zero byte.
inline constexpr std::string_view kNobody("\0", 1);

/// The part of a unit that one bucket of a cluster looks at.
struct UnitPart {
  int bucket;
  enum class Kind : std::uint8_t {
    kAll,         // its rows, and what they refer to there
    kRows,        // its rows
    kKeys,        // what rows of any bucket refer to there
    kReferences,  // the rows there that refer to rows of other buckets
  } kind = Kind::kAll;
  std::shared_ptr<const std::vector<bool>> yielding = nullptr;  // inserts that yield to other ones of the unit, in any bucket; null: none is known
  std::shared_ptr<const ForeignKeyDemands> demands = nullptr;   // of foreign keys on this part; null: the encoding finds them out

  bool has_rows() const { return kind == Kind::kAll || kind == Kind::kRows; }
};

/// The changes of a unit as one call of write_rows.lua: groups what goes to the same key, finds duplicates within the unit. A unit that is
/// only verified and locked may take several calls, each of a few milliseconds: what the earlier ones have found stays so because of
/// their locks.
class WriteEncoding {
 public:
  /// `verify_only`: nothing is to be applied, and only the first `limit` changes are looked at.
  /// `part`: of a unit over several buckets, which is only verified.
  WriteEncoding(WriteUnit& unit, std::size_t limit, bool verify_only, std::optional<UnitPart> part = {});

  /// The first violation between two changes of the unit that does not skip a row.
  const std::optional<WriteUnit::Violation>& local_violation() const { return local_violation_; }
  /// The unit as a program of write.lua; nullopt where it needs more than steps can say. Call it before divide().
  std::optional<WriteProgram> program();
  /// The unit as the program that prepares it in one of the buckets of a commit, whose name a step `unprepared` in front of it says.
  std::optional<WriteProgram> prepare_program();
  /// Returns a call of write.lua that runs the program in the unit's bucket.
  CommandBatch call(const WriteProgram& program);
  /// Makes the calls of `script()`.
  void divide();
  std::size_t calls() const { return calls_.size(); }
  /// Returns the script that `command` calls.
  const Script& script() const;
  CommandBatch command(std::size_t call) const;
  /// Keys and arguments of a call of write_rows.lua.
  std::span<const std::string_view> keys(std::size_t call) const { return calls_[call].keys; }
  std::span<const std::string_view> arguments(std::size_t call) const { return calls_[call].arguments; }
  /// Returns true if the insert yielded to an earlier one of this unit.
  bool was_skipped(std::size_t change) const { return skipped_here_[change]; }

  /// Returns the demands of foreign keys on Redis.
  const ForeignKeyDemands& foreign_keys() const { return foreign_keys_; }
  /// Table, mode and field of each lock that the call takes.
  std::span<const std::pair<PlacedTable, std::string_view>> locks(std::size_t call) const {
    const Range& range = calls_[call].locks;
    return std::span(locks_).subspan(range.first, range.size());
  }
  /// The reply of a call, as values. Throws XX000 for a reply that the script does not give, and what stopped_mapped_write throws.
  WriteAnswer decode(std::size_t call, std::span<const Reply> reply) const;

 private:
  using Word = std::string_view;
  struct Range {
    std::size_t first = 0, last = 0;
    std::size_t size() const { return last - first; }
  };
  /// The parts of the unit that one call looks at, and its words.
  struct Call {
    Range locks, new_rows, old_rows, uniques, sets, zsets, parents, children;
    bool is_last = false;  // with the guards
    std::vector<Word> keys, arguments;
  };
  /// Some of the rows that refer to a deleted row and are deleted as well.
  struct ChildrenPart {
    std::size_t children;  // of the demands
    Range gone;
  };
  /// Keys of one kind, each once, and arguments for each of them.
  struct KeyGroup {
    std::vector<Word> keys;
    std::unordered_map<Word, std::uint32_t> numbers;
    std::uint32_t number(Word key);
  };
  struct Argument {
    std::uint32_t key;
    Word first, second;
  };
  /// A unique value that comes, and the member that may own it.
  struct UniqueCheck {
    std::size_t change, structure;
    Word field, allowed;
  };
  class Count;

  WriteFinding finding(const Call& call, std::string_view kind, std::size_t index, const Reply& detail) const;

  // The effects of the changes (write_encoding.cc, write_encoding_uniques.cc, write_encoding_locks.cc).
  void release_old_entries();
  void claim_new_rows();
  bool claim_uniques(std::size_t number);
  void collect_entries(std::size_t number);
  /// Groups the effects on structures by their keys.
  void group_entries();
  void order_old_rows();
  void order_emptied();
  bool keeps_unique_values(const WriteUnit::Change& change) const;
  void collect_locks();
  void order_locks();
  void demand_foreign_keys();
  void divide_children();
  void take_children(Call& done, Call& call, std::size_t left) const;
  /// A table whose definition is verified and whose counter of changes moves.
  struct WrittenTable {
    Word counter, version;
  };
  std::map<sql::Oid, WrittenTable> written_tables() const;
  void collect_field_changes(const WriteUnit::Change& change, std::vector<Word>& set, std::vector<Word>& removed) const;

  // The sections of write_rows.lua, in its order (write_sections.cc).
  void write_call(const Call& call);
  void write_mode();
  void write_token();
  void write_tables();
  void write_relied_tables();
  void write_locks(const Range& range);
  void write_reads();
  void write_new_keys(const Range& range);
  void write_old_rows(const Call& call);
  void write_unique_values(const Range& range);
  void write_sets(const Range& range);
  void write_zsets(const Range& range);
  void write_keys(const std::vector<Word>& keys, const Range& range);
  void write_parents(const Range& range);
  void write_children(const Range& range);
  void write_increments();
  void write_set_removals();
  void write_zset_removals();
  void write_unique_removals();
  void write_new_rows();
  void write_moved_rows();
  void write_changed_rows();
  void write_expiries();
  void write_set_additions();
  void write_zset_additions();
  void write_unique_additions();
  void write_emptied_sets();
  void write_journal();

  // The steps of a program, in their order (write_encoding_program.cc).
  bool has_program() const;
  void add_row_guards(WriteProgram& program) const;
  void add_locks(WriteProgram& program) const;
  void add_pledges(WriteProgram& program) const;
  void add_foreign_keys(WriteProgram& program) const;
  void add_row_effects(WriteProgram& program) const;
  void add_claims(WriteProgram& program) const;
  /// The locks of one table, as a mode's digit and a field.
  struct TableLocks {
    PlacedTable table;
    std::vector<Word> own, others;
  };
  std::vector<TableLocks> locks_by_table() const;
  bool has_unique_effects() const;

  void write_groups(std::vector<Argument>& arguments, bool with_second);
  void write_words(std::span<const Word> words);
  /// A field that grows: by how much, and the bound of the sum.
  struct Increment {
    Word field, number, bound;
  };
  Increment increment_of(const WriteUnit::Change& change, std::size_t position) const;
  void put(Word word) { arguments_.push_back(word); }
  void put(std::size_t number) { arguments_.push_back(unit_.words_.number(number)); }
  /// Returns true if only the commit checks the unique structure of that number.
  bool is_deferred(std::uint32_t table, std::size_t structure);
  bool only_adds(const WriteUnit::Change& change) const;
  /// Returns true if the change's entry in the structure of that number is a matter of this part of the unit.
  bool is_here(std::size_t number, std::size_t structure, std::pair<Word, Word> entry) const;
  bool is_active(std::size_t number) const { return is_elsewhere_[number] == 0 && !is_skipped(number); }
  bool is_skipped(std::size_t number) const {
    const bool yields = part_ && part_->yielding && (*part_->yielding)[number];
    return yields || skipped_here_[number] || unit_.changes_[number].skipped;
  }
  bool moves(const WriteUnit::Change& change) const { return change.old_image.member != change.new_image.member; }

  /// A key of redquel's own in the bucket of the unit.
  Word own_key(Word key) const { return tag_.empty() || key.empty() ? key : unit_.words_.store(executor::own_key(tag_, key)); }

  WriteUnit& unit_;
  std::string_view tag_;  // of the bucket of the unit's tables
  std::size_t limit_;
  bool verify_only_;
  std::optional<UnitPart> part_;
  std::vector<bool> skipped_here_;
  std::vector<char> is_elsewhere_;  // changes of other parts
  std::map<std::pair<std::uint32_t, std::size_t>, bool> deferred_;
  std::optional<WriteUnit::Violation> local_violation_;

  // Row keys and unique values: who gives them up, who takes them.
  std::unordered_map<Word, std::size_t> released_rows_, claimed_rows_;
  struct ValueHash {
    std::size_t operator()(const std::pair<Word, Word>& value) const {
      return std::hash<Word>()(value.first) * 31 + std::hash<Word>()(value.second);
    }
  };
  using UniqueValue = std::pair<Word, Word>;  // uniques key, field
  std::unordered_map<UniqueValue, Word, ValueHash> released_values_;
  std::unordered_map<UniqueValue, std::size_t, ValueHash> claimed_values_;

  /// Units of more rows are written by write_rows.lua: its loops over many rows cost less than the words of the steps.
  static constexpr std::size_t kProgramRows = 16;

  std::vector<EntryEffect> entries_;  // of rows that are not grouped yet
  std::vector<std::size_t> new_rows_, old_rows_;  // changes
  std::size_t checked_new_rows_ = 0;
  KeyGroup sets_, zsets_, uniques_;
  std::vector<Argument> set_removals_, set_additions_, zset_removals_, zset_additions_, unique_removals_, unique_additions_;
  std::vector<std::pair<Argument, UniqueCheck>> pending_checks_;
  /// The key of one value, which loses or gains members.
  struct ValueKey {
    bool is_zset = false;
    std::uint32_t number = 0;
    auto operator<=>(const ValueKey&) const = default;
  };
  Word word_of(ValueKey key) const { return (key.is_zset ? zsets_ : sets_).keys[key.number]; }
  std::unordered_set<std::uint64_t> announced_;  // keys whose value goes into the set of values
  struct EmptyValue {
    ValueKey key;
    std::uint32_t values;
    Word entry;
  };
  std::vector<EmptyValue> emptied_;

  std::vector<std::pair<PlacedTable, Word>> locks_;  // a mode's digit and a field; by table
  ForeignKeyDemands foreign_keys_;
  std::vector<ChildrenPart> children_parts_;

  std::vector<Call> calls_;
  std::vector<Word> keys_, arguments_;  // of the call that is being made
};

}  // namespace redquel::executor
