#include "executor/storage/index_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/bad_key.h"
#include "executor/redis/redis_error.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/index_checker.h"
#include "executor/storage/row_expiry.h"
#include "executor/storage/row_image.h"
#include "executor/storage/stored_row.h"
#include "executor/storage/write_encoding.h"
#include "executor/storage/write_program.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/row_fields.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Differences that are repaired together.
constexpr std::size_t kTogether = 200;
/// Each pass repairs what it finds. If passes do not find half of what those before them found, that is due to
/// concurrent writes.
constexpr int kFruitlessPasses = 10;
/// Rows that a repair names.
constexpr std::size_t kMostWarnings = 20;

/// A row as it was read for a repair.
struct ReadRow {
  std::string key;              // of its hash; empty: no row can be called so
  bool is_overwritten = false;  // the key is of another type
  bool is_readable = true;
  std::vector<std::string> values;  // of its fields, '\0': absent
  std::optional<std::vector<sql::Datum>> row;
};

/// A member of the part's rows (false), or of those of any part (true): unique values that lie by value belong to all
/// parts.
using AskedMember = std::pair<bool, std::string>;
using ReadRows = std::map<AskedMember, ReadRow>;

/// The repair of one difference: the rows that must still be as they were read, effects, and the types of the keys.
struct Mending {
  std::vector<const ReadRow*> rows;
  std::map<std::string, std::string> types;
  WriteProgram effects;

  bool empty() const { return types.empty(); }

  /// Adds a step on a key of the type.
  void add(std::string_view type, StepKind kind, std::string_view key, std::initializer_list<std::string_view> words) {
    types.insert_or_assign(std::string(key), std::string(type));
    std::vector<std::string_view> stored{effects.store(key)};
    for (const std::string_view word : words) stored.push_back(effects.store(word));
    const std::size_t fixed = step_info(kind).fixed_words();
    effects.add(kind, std::span(stored).first(fixed), std::span(stored).subspan(fixed));
  }

  /// Takes a value off the list of values unless its set has members.
  void take_off_list(std::string_view values, std::string_view value, std::string_view set) {
    types.insert_or_assign(std::string(values), "set");
    effects.add(StepKind::kEmptied, {effects.store(set), effects.store(values), effects.store(value)});
  }

  /// Adds an element of a row.
  void add_element(const sql::StructureElement& element, std::string_view member) {
    if (element.form == &sql::kSetForm) add("set", StepKind::kMemberAdd, element.key, {element.name});
    else if (element.form == &sql::kZsetForm) add("zset", StepKind::kScoreAdd, element.key, {element.value, element.name});
    else add("hash", StepKind::kAdopt, element.key, {element.name, member, kNobody});
  }
};

class IndexRepair {
 public:
  IndexRepair(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table,
              const sql::SessionSettings& settings, const TakeWarning& warn)
      : client_(client),
        catalog_(std::move(catalog)),
        table_(std::move(table)),
        settings_(settings),
        warn_(warn),
        rows_(table_),
        rows_of_parts_(table_->part_of != 0 ? catalog_->find_table(table_->part_of) : table_),
        encoder_(table_) {
    std::vector<std::int16_t> numbers;
    for (const sql::ColumnDef& column : table_->columns) numbers.push_back(column.number);
    if (table_->has_hidden_key()) numbers.push_back(0);
    fields_ = sql::row_fields(*table_, numbers).fields;
  }

  /// Repairs until the checker finds nothing. With `keeps_values`, entries of unique values that lie by value and that
  /// no row of this part has stay: another part may have rows without their entry. Returns true if there are some.
  /// Throws 40001.
  asio::awaitable<bool> run(bool keeps_values) {
    keeps_values_ = keeps_values;
    std::size_t least = SIZE_MAX;
    for (int fruitless = 0; fruitless < kFruitlessPasses;) {
      found_ = 0;
      is_kept_ = false;
      claimed_.clear();
      unreadable_.clear();
      duplicate_.reset();
      TakeDifferences take = [&](std::vector<IndexDifference> differences) { return repair(std::move(differences)); };
      co_await check_indexes(client_, catalog_, table_, std::move(take));
      if (found_ == 0) co_return finish();
      fruitless = found_ <= least / 2 ? 0 : fruitless + 1;
      least = std::min(least, found_);
    }
    if (duplicate_) co_return is_kept_;
    throw SqlError(sqlstate::kSerializationFailure,
                   fmt::format("could not rebuild the indexes of table \"{}\" due to concurrent writes", table_->name))
        .detail(fmt::format("Key \"{}\" still does not match the rows of the table.", last_key_));
  }

  /// Returns the error of two rows that have one unique value, if run() has found some.
  const std::optional<SqlError>& duplicate() const { return duplicate_; }

 private:
  /// Reports rows that cannot be read. Returns the result of run().
  bool finish() {
    for (std::size_t index = 0; index < unreadable_.size() && index < kMostWarnings; ++index) {
      const IndexDifference& row = unreadable_[index];
      SqlError warning(
          sqlstate::kDataCorrupted,
          fmt::format("key \"{}\" in Redis is not a row that table \"{}\" can read", row.key, table_->name));
      warn_(std::move(warning)
                .detail(row.expected       ? fmt::format("The key of this row is written {}.", *row.expected)
                        : row.is_whole_key ? std::string("No index has the row.")
                                           : row.stored.value_or(""))
                .hint(fmt::format("Correct or delete the key in Redis, then run REINDEX TABLE {} again.",
                                  sql::quote_identifier(table_->name))));
    }
    if (unreadable_.size() > kMostWarnings) {
      warn_(SqlError(sqlstate::kDataCorrupted, fmt::format("{} more keys are not rows that table \"{}\" can read",
                                                           unreadable_.size() - kMostWarnings, table_->name)));
    }
    return is_kept_;
  }

  asio::awaitable<void> repair(std::vector<IndexDifference> differences) {
    std::erase_if(differences, [&](IndexDifference& difference) {
      const bool is_row = difference.structure == "row";
      const bool is_no_entry = is_row || difference.structure == "unknown" || difference.structure == "sequence";
      if (is_row) unreadable_.push_back(std::move(difference));
      return is_no_entry;
    });
    for (std::size_t first = 0; first < differences.size(); first += kTogether) {
      const auto begin = differences.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kTogether, differences.size() - first));
      std::vector<IndexDifference> some(std::make_move_iterator(begin), std::make_move_iterator(end));
      co_await repair_together(std::move(some));
    }
  }

  asio::awaitable<void> repair_together(std::vector<IndexDifference> differences) {
    std::set<AskedMember> members;
    for (const IndexDifference& difference : differences) add_members(difference, members);
    const ReadRows rows = co_await read_rows(std::move(members));
    std::vector<Mending> mendings;
    std::map<std::string, std::map<std::string, std::set<std::string>>> keys;  // by tag and type
    for (const IndexDifference& difference : differences) {
      Mending mending = mend(difference, rows);
      if (mending.empty()) continue;
      ++found_;
      last_key_ = difference.key;
      for (const auto& [key, type] : mending.types) keys[std::string(sql::tag_of(key))][type].insert(key);
      if (!mending.effects.empty()) mendings.push_back(std::move(mending));
    }
    if (keys.empty()) co_return;
    CommandBatch calls;
    for (const auto& [tag, types] : keys) {
      WriteProgram program;
      for (const auto& [type, of_type] : types) {
        const std::vector<std::string_view> words(of_type.begin(), of_type.end());
        program.add(StepKind::kRetypes, {type}, words);
      }
      append_program(calls, kWriteManyScript, program, tag);
    }
    for (const Mending& mending : mendings) append_call(mending, calls);
    std::vector<const Script*> scripts{&kWriteManyScript};
    const RepliesPtr done = co_await run_scripts(client_, std::move(scripts), std::move(calls));
    for (std::size_t index = 0; index < done->size(); ++index) {
      if (!is_wrong_type((*done)[index])) done->checked(index);  // the next pass finds a key that has got another type meanwhile
    }
  }

  /// Adds the rows that a repair looks at.
  void add_members(const IndexDifference& difference, std::set<AskedMember>& members) const {
    if (difference.is_whole_key) return;
    if (difference.structure == "unique") {
      const bool is_of_any_part = lies_by_value(difference);
      if (difference.stored) members.emplace(is_of_any_part, *difference.stored);
      if (difference.expected) members.emplace(is_of_any_part, *difference.expected);
    } else if (difference.structure != "values") {
      members.emplace(false, difference.id);
    } else if (difference.element) {
      members.emplace(false, *difference.element);
    }
  }

  bool lies_by_value(const IndexDifference& difference) const {
    const RowEncoder::StructureKeys* structure = structure_with(difference.key);
    return structure != nullptr && RowEncoder::lies_by_value(*structure);
  }

  asio::awaitable<ReadRows> read_rows(std::set<AskedMember> members) {
    ReadRows rows;
    CommandBatch fetch;
    for (const AskedMember& member : members) {
      ReadRow& row = rows[member];
      try {
        row.key = (member.first ? rows_of_parts_ : rows_).keys().row_of_member(member.second);
        fetch.add("HMGET", row.key, fields_);
      } catch (const SqlError&) {  // no member of the table
      }
    }
    const RepliesPtr replies = co_await client_.execute(std::move(fetch));
    std::size_t reply = 0;
    for (auto& [member, row] : rows) {
      if (row.key.empty()) continue;
      const Reply& values = (*replies)[reply];
      row.is_overwritten = is_wrong_type(values);
      if (!row.is_overwritten) decode(member.second, replies->array(reply), row);
      ++reply;
    }
    co_return rows;
  }

  void decode(const std::string& member, std::span<const Reply> values, ReadRow& row) const {
    for (const Reply& value : values)
      row.values.push_back(value.is_text() ? std::string(value.text) : std::string(1, '\0'));
    try {
      row.row = rows_.decode(member, values);
      Words words;
      if (!row.row || encoder_.encode(*row.row, words).member == member) return;
      // Another spelling of a key (emp:007) is no row. A row whose fields hold another key stays as it is.
      row.row.reset();
      row.is_readable = !rows_.is_canonical(member);
    } catch (const SqlError&) {
      row.is_readable = false;
    }
  }

  void append_call(const Mending& mending, CommandBatch& calls) const {
    WriteProgram program;
    std::vector<std::string_view> words;
    for (const ReadRow* row : mending.rows) {
      if (row->is_overwritten) program.add(StepKind::kNoHash, {row->key});
      if (row->is_overwritten || fields_.empty()) continue;
      words.assign(fields_.begin(), fields_.end());
      words.insert(words.end(), row->values.begin(), row->values.end());
      program.add(StepKind::kRow, {row->key}, words);
    }
    program.append(mending.effects, StepInfo::Phase::kEffect);
    append_program(calls, kWriteManyScript, program, sql::tag_of(mending.types.begin()->first));
  }

  /// Returns what repairs the difference. No steps: it is to stay.
  Mending mend(const IndexDifference& difference, const ReadRows& rows) {
    Mending mending;
    if (difference.structure == "counter") {
      mending.add("string", StepKind::kRaise, difference.key, {difference.expected.value_or("")});
    } else if (difference.is_whole_key) {
      mending.types.emplace(difference.key, type_of(difference.structure));
    } else if (difference.structure == "values" && !difference.expected) {
      const std::string set = set_of_value(difference);
      if (set.empty()) mending.add("set", StepKind::kMemberRemove, difference.key, {difference.id});
      else mending.take_off_list(difference.key, difference.id, set);
    } else if (difference.structure == "unique") {
      mend_unique(difference, rows, mending);
    } else {
      const ReadRow& row =
          rows.at({false, difference.structure == "values" ? difference.element.value_or("") : difference.id});
      if (!row.is_readable) return mending;
      append_removal(difference, mending);
      append_row(row, mending);
    }
    return mending;
  }

  /// Returns the type of a structure's key, by the structure's name in a difference.
  static std::string type_of(std::string_view structure) {
    for (const sql::StructureKind* kind : sql::structure_kinds()) {
      if (kind->name() == structure) return std::string(kind->entry_form().type);
    }
    return structure == "values" ? "set" : "zset";
  }

  /// Returns the key of a listed value's set; empty: no value is written so.
  std::string set_of_value(const IndexDifference& difference) const {
    for (const RowEncoder::StructureKeys& structure : encoder_.structures()) {
      if (!structure.kind->lists_values() || structure.key != difference.key) continue;
      try {
        return structure.kind->value_key(encoder_.keys(), structure.structure.columns, difference.id);
      } catch (const SqlError&) {
        break;
      }
    }
    return {};
  }

  /// Adds the removal of an entry that is wrong. What is right about it comes back with the row's entries.
  static void append_removal(const IndexDifference& difference, Mending& mending) {
    if (!difference.stored || !difference.element) return;
    if (difference.structure == "values") return;
    const std::string type = type_of(difference.structure);
    mending.add(type, type == sql::kSetForm.type ? StepKind::kMemberRemove : StepKind::kScoreRemove, difference.key, {*difference.element});
  }

  /// Adds the row, as it was read, and all of its entries beside it.
  void append_row(const ReadRow& row, Mending& mending) const {
    if (!row.key.empty()) mending.rows.push_back(&row);
    if (row.row) append_entries(*row.row, mending);
  }

  void append_entries(const std::vector<sql::Datum>& row, Mending& mending) const {
    Words words;
    const RowImage image = encoder_.encode(row, words);
    const std::string member(image.member);
    mending.add("zset", StepKind::kScoreAdd, encoder_.all_rows(), {image.score, member});
    for (std::size_t number = 0; number < encoder_.structures().size(); ++number) {
      const auto& structure = encoder_.structures()[number];
      const auto entry = RowEncoder::entry(words, image, number);
      if (is_null(entry.first) || RowEncoder::lies_by_value(structure)) continue;
      for (const sql::StructureElement& element : RowEncoder::elements(structure, image, entry)) mending.add_element(element, member);
    }
    if (table_->rows_expire()) {
      mending.add("hash", StepKind::kHset, encoder_.keys().entries(), {member, row_entries(encoder_, image, words, true)});
      mending.add("zset", StepKind::kScoreAdd, encoder_.keys().expiries(), {"0", member});  // the sweeper sees when it is due
      mending.add("set", StepKind::kMemberAdd, std::string(table_->tag()).append(sql::kExpiringKey), {table_->prefix});
    }
  }

  /// Repairs the owner of a unique value. Where the value lies in another bucket than its rows, the script does not
  /// look at them: the checker has done so several times.
  void mend_unique(const IndexDifference& difference, const ReadRows& rows, Mending& mending) {
    const RowEncoder::StructureKeys* structure = structure_with(difference.key);
    if (structure == nullptr) return;
    const bool is_beside = !RowEncoder::lies_by_value(*structure);
    const ReadRow* owner = difference.stored ? &rows.at({!is_beside, *difference.stored}) : nullptr;
    const ReadRow* claimant = difference.expected ? &rows.at({!is_beside, *difference.expected}) : nullptr;
    const bool is_claimed = claimant != nullptr && has_value(*claimant, difference);
    const std::pair<std::string, std::string> value{difference.key, difference.id};
    if (is_claimed) claimed_.insert(value);
    if (owner != nullptr && owner != claimant && !owner->is_readable) return;  // it may have the value
    if (is_claimed && owner != nullptr && has_value(*owner, difference)) {
      if (!duplicate_) duplicate_ = duplicate_of(*structure, *claimant->row);
      return;
    }
    if (is_claimed) {
      const std::string before = difference.stored.value_or(std::string(1, '\0'));
      mending.add("hash", StepKind::kAdopt, difference.key, {difference.id, *difference.expected, before});
    } else if (owner != nullptr && claimed_.contains(value)) {
      return;  // a row has the value, and takes the entry over
    } else if (owner != nullptr && !is_beside && keeps_values_) {
      is_kept_ = true;
      return;
    } else if (owner != nullptr && !has_value(*owner, difference)) {
      mending.add("hash", StepKind::kRelease, difference.key, {difference.id, *difference.stored});
    }
    if (!is_beside) return;
    if (owner != nullptr) append_row(*owner, mending);
    if (claimant != nullptr && claimant != owner && claimant->is_readable) append_row(*claimant, mending);
  }

  /// Returns the structure of unique values that has the key, also in the bucket of another part; null: none.
  const RowEncoder::StructureKeys* structure_with(const std::string& key) const {
    for (const RowEncoder::StructureKeys& structure : encoder_.structures()) {
      if (!structure.kind->has_owners()) continue;
      const bool has_key = RowEncoder::lies_by_value(structure)
                               ? std::ranges::find(structure.keys_by_value, key) != structure.keys_by_value.end()
                               : structure.key == key;
      if (has_key) return &structure;
    }
    return nullptr;
  }

  /// Returns true if the row has the unique value of the difference.
  bool has_value(const ReadRow& row, const IndexDifference& difference) const {
    if (!row.row) return false;
    Words words;
    const RowImage image = encoder_.encode(*row.row, words);
    for (std::size_t number = 0; number < encoder_.structures().size(); ++number) {
      const RowEncoder::StructureKeys& structure = encoder_.structures()[number];
      const auto entry = RowEncoder::entry(words, image, number);
      if (!structure.kind->has_owners() || is_null(entry.first)) continue;
      if (RowEncoder::unique_key(structure, entry) == difference.key && entry.first == difference.id) return true;
    }
    return false;
  }

  SqlError duplicate_of(const RowEncoder::StructureKeys& structure, const std::vector<sql::Datum>& row) const {
    const std::vector<std::int16_t>& columns = structure.structure.columns;
    return duplicate_in_new_index(*table_, unique_name(*table_, columns).name, columns, encoder_.values(structure, row),
                                  settings_);
  }

  RedisClient& client_;
  sql::CatalogPtr catalog_;
  std::shared_ptr<const sql::TableDef> table_;
  const sql::SessionSettings& settings_;
  const TakeWarning& warn_;
  StoredRows rows_, rows_of_parts_;
  RowEncoder encoder_;
  std::vector<std::string> fields_;
  bool keeps_values_ = false;
  // Of the pass:
  std::size_t found_ = 0;
  bool is_kept_ = false;
  std::string last_key_;                                   // of a difference that was repaired
  std::set<std::pair<std::string, std::string>> claimed_;  // keys and fields of unique values that rows have
  std::vector<IndexDifference> unreadable_;                // rows
  std::optional<SqlError> duplicate_;
};

}  // namespace

asio::awaitable<void> repair_indexes(RedisClient& client, sql::CatalogPtr catalog,
                                     std::shared_ptr<const sql::TableDef> table, sql::SessionSettings settings,
                                     TakeWarning warn) {
  // Where unique values lie by value, no entry goes before all parts have been searched for rows with its value.
  const bool keeps_values = sql::has_values_elsewhere(*table);
  bool has_kept = false;
  std::optional<SqlError> duplicate;
  // The first part comes last: it counts the rows of all parts, by their sets of rows.
  const auto repair_parts = [&](bool keeps, const TakeWarning& take) -> asio::awaitable<void> {
    const std::vector<std::shared_ptr<const sql::TableDef>> parts = sql::stored_tables(table);
    for (const auto& part : std::views::reverse(parts)) {
      IndexRepair repair(client, catalog, part, settings, take);
      if (co_await repair.run(keeps)) has_kept = true;
      if (!duplicate) duplicate = repair.duplicate();
    }
  };
  co_await repair_parts(keeps_values, warn);
  const TakeWarning has_warned = [](const SqlError&) {};
  if (has_kept) co_await repair_parts(false, has_warned);
  if (duplicate) throw *duplicate;
}

}  // namespace redquel::executor
