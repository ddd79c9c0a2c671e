// The arguments of write_rows.lua, section by section: a function here has the name of its "-- Section" there.

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "executor/storage/journal.h"
#include "executor/storage/row_expiry.h"
#include "executor/storage/write_encoding.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

void WriteEncoding::write_call(const Call& call) {
  write_mode();
  write_token();
  write_tables();
  write_relied_tables();
  write_locks(call.locks);
  write_reads();
  write_new_keys(call.new_rows);
  write_old_rows(call);
  write_unique_values(call.uniques);
  write_sets(call.sets);
  write_zsets(call.zsets);
  write_parents(call.parents);
  write_children(call.children);
  write_increments();
  if (verify_only_) return;
  write_set_removals();
  write_zset_removals();
  write_unique_removals();
  write_new_rows();
  write_moved_rows();
  write_changed_rows();
  write_expiries();
  write_set_additions();
  write_zset_additions();
  write_unique_additions();
  write_emptied_sets();
  write_journal();
}

/// Writes a number that is known only after what follows it: fill() sets it.
class WriteEncoding::Count {
 public:
  explicit Count(WriteEncoding& encoding) : encoding_(encoding), at_(encoding.arguments_.size()) { encoding.put(std::size_t{0}); }
  void fill(std::size_t count) { encoding_.arguments_[at_] = encoding_.unit_.words_.number(count); }

 private:
  WriteEncoding& encoding_;
  std::size_t at_;
};

/// lock takes locks and verifies, verify only verifies, commit applies what a transaction has locked, apply does all in one.
void WriteEncoding::write_mode() {
  const bool in_transaction = unit_.options_.locks != nullptr;
  if (in_transaction && unit_.options_.buffer) {
    put("lock");
  } else if (verify_only_) {
    put("verify");
  } else {
    put(in_transaction ? "commit" : "apply");
  }
}

/// The slot that notes the commit, and its number.
void WriteEncoding::write_token() {
  const CommitToken none;
  const CommitToken& token = unit_.options_.token ? *unit_.options_.token : none;
  put(own_key(unit_.words_.store(token.key)));
  for (const std::string* word : {&token.slot, &token.number}) put(unit_.words_.store(*word));
}

/// Tables that change: how many, their oids, their versions.
void WriteEncoding::write_tables() {
  keys_.push_back(own_key(sql::kVersionsKey));
  const std::map<sql::Oid, WrittenTable> tables = written_tables();
  put(tables.size());
  for (const auto& [oid, table] : tables) {
    put(unit_.words_.number(oid));
    keys_.push_back(table.counter);
  }
  for (const auto& [oid, table] : tables) put(unit_.options_.journal ? Word(unit_.options_.journal->owner) : table.version);
}

/// Tables that do not change, but whose definitions the checks rely on: how many, their oids, their versions.
void WriteEncoding::write_relied_tables() {
  put(foreign_keys_.tables.size());
  for (const auto& table : foreign_keys_.tables) put(unit_.words_.number(table->oid));
  for (const auto& table : foreign_keys_.tables) put(table->version);
}

/// Locks: the owner; by table how many, and for each the digit of its mode and its field.
void WriteEncoding::write_locks(const Range& range) {
  put(unit_.options_.locks != nullptr ? Word(unit_.options_.locks->token) : Word(""));
  Count written(*this);
  std::size_t tables = 0;
  for (std::size_t first = range.first; first < range.last; ++tables) {
    std::size_t last = first;
    while (last < range.last && locks_[last].first == locks_[first].first) ++last;
    keys_.push_back(unit_.words_.store(lock_key(locks_[first].first)));
    put(last - first);
    for (; first < last; ++first) put(locks_[first].second);
  }
  written.fill(tables);
}

/// Writes the reads of a stricter transaction, table by table: the counter and, unless the whole table counts, the rows.
void WriteEncoding::write_reads() {
  if (unit_.options_.reads == nullptr) return put(std::size_t{0});
  put(unit_.options_.reads->tables().size());
  for (const auto& [oid, table] : unit_.options_.reads->tables()) {
    keys_.push_back(table.counter_key);
    put(table.counter);
    put(table.whole ? "whole" : "rows");
    put(table.whole ? 0 : table.rows.size());
    if (table.whole) continue;
    for (const ReadChecks::Row& row : table.rows) {
      keys_.push_back(row.key);
      put(row.fields.size());
      for (const std::string& field : row.fields) put(field);
      for (const auto& value : row.values) put(value ? Word(*value) : kNobody);
    }
  }
}

/// Keys of new rows: how many, and how many of these, the first ones, must not be there.
void WriteEncoding::write_new_keys(const Range& range) {
  for (std::size_t index = range.first; index < range.last; ++index) keys_.push_back(unit_.changes_[new_rows_[index]].new_image.key);
  put(range.size());
  put(std::clamp(checked_new_rows_, range.first, range.last) - range.first);
}

/// Old rows, grouped by their fate and by the fields that must be unchanged; then the guards, rows that are only relied on.
void WriteEncoding::write_old_rows(const Call& call) {
  Count written(*this);
  std::size_t groups = 0;
  for (std::size_t first = call.old_rows.first; first < call.old_rows.last;) {
    const WriteUnit::Change& head = unit_.changes_[old_rows_[first]];
    const bool is_delete = head.kind == WriteUnit::Kind::kDelete;
    const bool is_move = head.kind == WriteUnit::Kind::kUpdate && moves(head);
    std::size_t last = first;
    while (last < call.old_rows.last) {
      const WriteUnit::Change& change = unit_.changes_[old_rows_[last]];
      const bool same = change.table == head.table && change.shape == head.shape &&
                        (change.kind == WriteUnit::Kind::kDelete) == is_delete && change.increments.empty() == head.increments.empty() &&
                        (change.kind == WriteUnit::Kind::kUpdate && moves(change)) == is_move;
      if (!same) break;
      ++last;
    }
    const WriteUnit::Shape& shape = unit_.tables_[head.table].shapes[head.shape];
    const bool is_compared = !only_adds(head);
    put(is_delete ? "drop" : is_move ? "move" : "keep");
    put(last - first);
    put(is_compared ? shape.fields.size() : 0);
    for (std::size_t field = 0; is_compared && field < shape.fields.size(); ++field) put(shape.fields[field]);
    for (; first < last; ++first) {
      const WriteUnit::Change& change = unit_.changes_[old_rows_[first]];
      keys_.push_back(change.old_image.key);
      if (!is_compared) continue;
      for (Word expected : unit_.words_.range(change.expected, shape.fields.size())) put(is_null(expected) ? kNobody : expected);
    }
    ++groups;
  }
  for (std::size_t index = 0; call.is_last && index < unit_.guards_.size(); ++index) {
    const WriteUnit::Guard& guard = unit_.guards_[index];
    if (sql::uses_cluster() && sql::tag_of(guard.key) != tag_) continue;  // of a value in this bucket whose row is in another one
    put("keep");
    put(std::size_t{1});
    put(guard.fields.size());
    for (const std::string& field : guard.fields) put(field);
    for (const auto& value : guard.values) put(value ? Word(*value) : kNobody);
    keys_.push_back(guard.key);
    ++groups;
  }
  written.fill(groups);
}

/// Unique values that come, key by key: how many, the values, the members that may own them. The sections that apply refer to keys by
/// their numbers, so a call that applies has all keys.
void WriteEncoding::write_unique_values(const Range& range) {
  Count written(*this);
  std::size_t keys = 0, next = range.first;
  for (std::uint32_t key = 0; key < uniques_.keys.size(); ++key) {
    std::size_t end = next;
    while (end < range.last && pending_checks_[end].first.key == key) ++end;
    if (verify_only_ && end == next) continue;
    ++keys;
    keys_.push_back(uniques_.keys[key]);
    put(end - next);
    for (std::size_t index = next; index < end; ++index) put(pending_checks_[index].second.field);
    for (std::size_t index = next; index < end; ++index) put(pending_checks_[index].second.allowed);
    next = end;
  }
  written.fill(keys);
}

/// Keys that must be sets.
void WriteEncoding::write_sets(const Range& range) { write_keys(sets_.keys, range); }

/// Keys that must be zsets.
void WriteEncoding::write_zsets(const Range& range) { write_keys(zsets_.keys, range); }

void WriteEncoding::write_keys(const std::vector<Word>& keys, const Range& range) {
  put(range.size());
  keys_.insert(keys_.end(), keys.begin() + static_cast<std::ptrdiff_t>(range.first), keys.begin() + static_cast<std::ptrdiff_t>(range.last));
}

/// Places that foreign keys refer to: row or value, and the value.
void WriteEncoding::write_parents(const Range& range) {
  put(range.size());
  for (std::size_t index = range.first; index < range.last; ++index) {
    const ForeignKeyDemands::Parent& parent = foreign_keys_.parents[index];
    keys_.push_back(parent.place.key);
    put(parent.place.field ? "value" : "row");
    put(parent.place.field ? Word(*parent.place.field) : Word("", 0));
  }
}

/// Sets of rows that refer to a row that goes: how many of them go, too, whether another call looks at more of them, their members.
void WriteEncoding::write_children(const Range& range) {
  put(range.size());
  for (std::size_t index = range.first; index < range.last; ++index) {
    const ChildrenPart& part = children_parts_[index];
    const ForeignKeyDemands::Children& children = foreign_keys_.children[part.children];
    keys_.push_back(children.set);
    put(part.gone.size());
    put(part.gone.last == children.gone.size() ? 0 : 1);
    for (std::size_t member = part.gone.first; member < part.gone.last; ++member) put(children.key->name_in_set(children.gone[member]));
  }
}

/// Fields that grow: the number of the row, the field, what is added, the bound of the sum. A call that only verifies leaves them to the
/// commit.
void WriteEncoding::write_increments() {
  if (verify_only_) return put(std::size_t{0});
  Count written(*this);
  std::size_t count = 0;
  for (std::size_t index = 0; index < old_rows_.size(); ++index) {
    const WriteUnit::Change& change = unit_.changes_[old_rows_[index]];
    for (const std::size_t position : change.increments) {
      const Increment increment = increment_of(change, position);
      for (const Word word : {unit_.words_.number(index), increment.field, increment.number, increment.bound}) put(word);
    }
    count += change.increments.size();
  }
  written.fill(count);
}

/// Members that go, set by set.
void WriteEncoding::write_set_removals() { write_groups(set_removals_, false); }

/// Members that go, zset by zset.
void WriteEncoding::write_zset_removals() { write_groups(zset_removals_, false); }

/// Unique values that go, key by key: how many, the values, the members that must own them.
void WriteEncoding::write_unique_removals() {
  std::vector<Argument>& removals = unique_removals_;
  std::stable_sort(removals.begin(), removals.end(), [](const Argument& a, const Argument& b) { return a.key < b.key; });
  Count written(*this);
  std::size_t groups = 0;
  for (std::size_t first = 0; first < removals.size(); ++groups) {
    std::size_t last = first;
    while (last < removals.size() && removals[last].key == removals[first].key) ++last;
    put(removals[first].key);
    put(last - first);
    for (std::size_t index = first; index < last; ++index) put(removals[index].first);
    for (std::size_t index = first; index < last; ++index) put(removals[index].second);
    first = last;
  }
  written.fill(groups);
}

/// New rows, each run of those that have the same fields: how many rows and fields, the names, then row by row the values.
void WriteEncoding::write_new_rows() {
  std::vector<Word> names, row_names, values;
  std::uint32_t table = 0;
  std::size_t runs = 0, rows = 0, rows_at = 0;
  Count written(*this);
  for (const std::size_t number : new_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    unit_.tables_[change.table].encoder.fields_of(change.new_image, unit_.words_, row_names, values);
    if (runs == 0 || change.table != table || row_names != names) {
      ++runs;
      rows = 0;
      rows_at = arguments_.size();
      table = change.table;
      names = row_names;
      put(std::size_t{0});
      put(names.size());
      for (const Word name : names) put(name);
    }
    for (const Word value : values) put(value);
    arguments_[rows_at] = unit_.words_.number(++rows);
  }
  written.fill(runs);
}

/// Rows that get another key, in the order of their old rows: the number of the new row, which keeps the time to live.
void WriteEncoding::write_moved_rows() {
  std::unordered_map<std::size_t, std::size_t> new_positions;
  for (std::size_t index = 0; index < new_rows_.size(); ++index) new_positions.emplace(new_rows_[index], index);
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kUpdate && moves(change)) put(new_positions.at(number));
  }
}

/// Rows that stay and change: the number of the old row; fields to set with their values, fields to remove, each with how many words.
void WriteEncoding::write_changed_rows() {
  Count count(*this);
  std::size_t rows = 0;
  std::vector<Word> set, removed;
  for (std::size_t index = 0; index < old_rows_.size(); ++index) {
    const WriteUnit::Change& change = unit_.changes_[old_rows_[index]];
    if (change.kind != WriteUnit::Kind::kUpdate || moves(change)) continue;
    set.clear();
    removed.clear();
    collect_field_changes(change, set, removed);
    put(index);
    for (const std::vector<Word>* words : {&set, &removed}) write_words(*words);
    ++rows;
  }
  count.fill(rows);
}

/// Rows of tables whose rows expire that come, go or change, by table. Those that go are first: another row may take the key.
void WriteEncoding::write_expiries() {
  std::map<std::uint32_t, std::vector<std::size_t>> changes;  // by table
  for (std::size_t number = 0; number < limit_; ++number) {
    const std::uint32_t table = unit_.changes_[number].table;
    if (is_active(number) && unit_.tables_[table].encoder.table().rows_expire()) changes[table].push_back(number);
  }
  std::unordered_map<std::size_t, std::size_t> new_positions, old_positions;
  if (!changes.empty()) {
    for (std::size_t index = 0; index < new_rows_.size(); ++index) new_positions.emplace(new_rows_[index], index);
    for (std::size_t index = 0; index < old_rows_.size(); ++index) old_positions.emplace(old_rows_[index], index);
  }
  put(changes.size());
  for (const auto& [table, numbers] : changes) {
    const RowEncoder& encoder = unit_.tables_[table].encoder;
    keys_.push_back(unit_.words_.store(encoder.keys().expiries()));
    keys_.push_back(unit_.words_.store(encoder.keys().entries()));
    put(unit_.words_.store(encoder.table().prefix));
    Count written(*this);
    std::size_t records = 0;
    const auto record = [&](Word fate, std::size_t index, Word member, Word expiry, const std::string& entries) {
      put(fate);
      put(index);
      put(member);
      put(expiry);
      put(unit_.words_.store(entries));
      ++records;
    };
    for (const std::size_t number : numbers) {
      const WriteUnit::Change& change = unit_.changes_[number];
      const bool goes = change.kind == WriteUnit::Kind::kDelete || (change.kind == WriteUnit::Kind::kUpdate && moves(change));
      if (goes) record("gone", 0, change.old_image.member, "", "");
    }
    for (const std::size_t number : numbers) {
      const WriteUnit::Change& change = unit_.changes_[number];
      if (change.kind == WriteUnit::Kind::kDelete) continue;
      const bool is_index = change.kind == WriteUnit::Kind::kIndex;
      const bool stays = change.kind == WriteUnit::Kind::kUpdate && !moves(change);
      const std::string entries = row_entries(encoder, change.new_image, unit_.words_, !is_index);
      const bool is_set = change.kind == WriteUnit::Kind::kInsert ||
                          (!is_index && changes_expiry(encoder, change.old_image, change.new_image, unit_.words_));
      Word expiry("", 0);
      if (change.expires_at) expiry = time_left(*change.expires_at, unit_.words_);
      else if (is_set) expiry = time_to_live(encoder, change.new_image, unit_.words_);
      const std::size_t index = is_index ? 0 : stays ? old_positions.at(number) : new_positions.at(number);
      record(is_index ? "index" : stays ? "same" : "new", index, change.new_image.member, expiry, entries);
    }
    written.fill(records);
  }
}

/// Members that come, set by set.
void WriteEncoding::write_set_additions() { write_groups(set_additions_, false); }

/// Scores and members that come, zset by zset.
void WriteEncoding::write_zset_additions() { write_groups(zset_additions_, true); }

/// Unique values that come with their owners, key by key.
void WriteEncoding::write_unique_additions() { write_groups(unique_additions_, true); }

/// Sets and zsets that lose members: if one is gone afterwards, its value goes out of the set of values. The numbers of both, the value. The
/// numbers of zsets go on behind those of sets.
void WriteEncoding::write_emptied_sets() {
  order_emptied();
  put(emptied_.size());
  for (const EmptyValue& value : emptied_) {
    put(value.key.number + (value.key.is_zset ? sets_.keys.size() : 0));
    put(value.values);
    put(value.entry);
  }
}

/// A journaled unit's note of this chunk: how to undo it (do), that it is undone (undo), or nothing.
void WriteEncoding::write_journal() {
  const std::optional<JournalStep>& journal = unit_.options_.journal;
  if (!journal) return put("");
  keys_.push_back(journal->key);
  if (journal->kind == JournalStep::Kind::kUndo) return put("undo");
  std::string records;
  for (std::size_t number = 0; number < limit_; ++number) {
    if (!is_active(number)) continue;
    const WriteUnit::Change& change = unit_.changes_[number];
    const RowEncoder& encoder = unit_.tables_[change.table].encoder;
    const bool is_delete = change.kind == WriteUnit::Kind::kDelete;
    std::optional<std::span<const Word>> before;
    if (change.kind != WriteUnit::Kind::kInsert) before = unit_.words_.range(change.old_image.texts, encoder.width());
    append_journal_record(records, encoder.table().oid, is_delete ? Word() : change.new_image.member, before);
  }
  if (records.empty()) return put("");  // all of its rows have given way: nothing is to be undone
  put("do");
  put(unit_.words_.store(records));
}

/// Writes the number of words, and the words.
void WriteEncoding::write_words(std::span<const Word> words) {
  put(words.size());
  for (const Word word : words) put(word);
}

/// Key by key: its number, how many words follow, the words.
void WriteEncoding::write_groups(std::vector<Argument>& arguments, bool with_second) {
  std::stable_sort(arguments.begin(), arguments.end(), [](const Argument& a, const Argument& b) { return a.key < b.key; });
  Count written(*this);
  std::size_t groups = 0;
  for (std::size_t first = 0; first < arguments.size(); ++groups) {
    std::size_t last = first;
    while (last < arguments.size() && arguments[last].key == arguments[first].key) ++last;
    put(arguments[first].key);
    put((last - first) * (with_second ? 2 : 1));
    for (; first < last; ++first) {
      put(arguments[first].first);
      if (with_second) put(arguments[first].second);
    }
  }
  written.fill(groups);
}

}  // namespace redquel::executor
