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
#include "executor/scripts/scripts.h"
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

/// The changes of a unit as a program: groups what goes to the same key, finds duplicates within the unit. A unit that is
/// only verified and locked may take several programs, each of a few milliseconds: what the earlier ones have found stays so because of
/// their locks.
class WriteEncoding {
 public:
  /// `verify_only`: nothing is to be applied, and only the first `limit` changes are looked at.
  /// `part`: of a unit over several buckets, which is only verified.
  WriteEncoding(WriteUnit& unit, std::size_t limit, bool verify_only, std::optional<UnitPart> part = {});

  /// The first violation between two changes of the unit that does not skip a row.
  const std::optional<WriteUnit::Violation>& local_violation() const { return local_violation_; }
  /// The unit as a program of write.lua; nullopt where it has many rows or needs more than its steps can say. Call it before divide().
  std::optional<WriteProgram> program();
  /// Makes the program that prepares the unit in one of the buckets of a commit, whose name a step `unprepared` in front of it says. decode(0, …)
  /// reads its answer. `reads`: that must stay as they are; `definitions`: that change with the rows (scripts/shared/definitions.lua).
  std::span<const std::string_view> prepare(const ReadChecks& reads, const std::vector<std::string>& definitions);
  /// Makes the calls of write_many.lua.
  void divide();
  std::size_t calls() const { return calls_.size(); }
  const WriteProgram& program(std::size_t call) const { return calls_[call].program; }
  /// The tag of the bucket where the programs run.
  std::string_view tag() const { return tag_; }
  /// Returns true if the insert yielded to an earlier one of this unit.
  bool was_skipped(std::size_t change) const { return skipped_here_[change]; }

  /// Returns the demands of foreign keys on Redis.
  const ForeignKeyDemands& foreign_keys() const { return foreign_keys_; }
  /// Table, mode and field of each lock that the call takes.
  std::span<const std::pair<PlacedTable, std::string_view>> locks(std::size_t call) const {
    const Range& range = calls_[call].locks;
    return std::span(locks_).subspan(range.first, range.size());
  }
  /// The reply of a call, as values. Throws XX000 for a reply that the script does not give, errors of counters, and what stopped_mapped_write
  /// throws.
  WriteAnswer decode(std::size_t call, std::span<const Reply> reply) const;

 private:
  using Word = std::string_view;
  struct Range {
    std::size_t first = 0, last = 0;
    std::size_t size() const { return last - first; }
  };
  /// A step that notes what it finds about the things from a first one on.
  struct Origin {
    enum class Kind : std::uint8_t { kNewRow, kOldRow, kGuard, kUnique, kParent, kChildren };
    std::size_t place;
    Kind kind;
    std::size_t first;
  };
  /// The parts of the unit that one call looks at, and its program.
  struct Call {
    Range locks, new_rows, old_rows, uniques, sets, zsets, parents, children;
    bool is_last = false;  // with the guards
    WriteProgram program;
    std::vector<Origin> origins;
    std::size_t words_before = 0;  // in front of the program

    void note(Origin::Kind kind, std::size_t first) { origins.push_back({program.next_place(), kind, first}); }
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

  WriteAnswer stopped(const Call& call, std::span<const Reply> reply) const;
  WriteFinding finding(const Call& call, std::size_t place, std::size_t index, const Reply& detail) const;

  // The effects of the changes (write_encoding.cc, write_encoding_uniques.cc, write_encoding_locks.cc).
  void release_old_entries();
  void claim_new_rows();
  bool claim_uniques(std::size_t number);
  void collect_entries(std::size_t number);
  /// Groups the effects on structures by their keys.
  void group_entries();
  /// Groups what is left, and orders what the steps of many rows look for.
  void finish_groups();
  void order_old_rows();
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

  // The steps of a program of many rows, in their order (write_encoding_many.cc).
  void write_call(Call& call);
  void add_versions(WriteProgram& program) const;
  void add_many_locks(WriteProgram& program, const Range& range) const;
  void add_reads(WriteProgram& program) const;
  void add_many_guards(Call& call);
  void add_old_rows(Call& call);
  Range checks_of(const Call& call, std::uint32_t key) const;
  Range additions_of(std::uint32_t key) const;
  bool claims_all(const Range& checks, const Range& additions) const;
  void add_owners(Call& call, std::uint32_t key);
  bool makes_room() const;
  void add_many_effects(Call& call);
  void add_groups(WriteProgram& program, std::vector<Argument>& arguments, const std::vector<Word>& keys, StepKind kind, bool with_second) const;
  void add_sets(WriteProgram& program, std::vector<Argument>& arguments, StepKind of_values, StepKind of_others) const;
  void add_releases(WriteProgram& program);
  void add_emptied(WriteProgram& program);
  void add_new_rows(WriteProgram& program) const;
  void add_changed_rows(WriteProgram& program) const;
  void add_expiries(WriteProgram& program) const;
  void add_journal(WriteProgram& program) const;

  // The steps of a program, in their order (write_encoding_program.cc).
  bool has_program() const;
  bool is_in_bucket(const WriteUnit::Guard& guard) const { return !sql::uses_cluster() || sql::tag_of(guard.key) == tag_; }
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

  /// A field that grows: by how much, and the bound of the sum.
  struct Increment {
    Word field, number, bound;
  };
  Increment increment_of(const WriteUnit::Change& change, std::size_t position) const;
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

  /// Units of more rows have steps of many rows: their loops cost less than the words of the steps of one.
  static constexpr std::size_t kProgramRows = 16;

  std::vector<EntryEffect> entries_;  // of rows that are not grouped yet
  std::vector<std::size_t> new_rows_, old_rows_;  // changes
  std::size_t checked_new_rows_ = 0;
  KeyGroup sets_, zsets_, uniques_;
  /// A set whose key is that of the set of values with the value behind it; the value is null for others.
  struct NamedSet {
    std::uint32_t values = 0;
    Word value;
  };
  std::vector<NamedSet> named_sets_;  // parallel to the keys of sets_
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
};

}  // namespace redquel::executor
