// A unit of many rows as programs of write_many.lua: what goes to one key is one step, and guards note what they find.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "executor/storage/journal.h"
#include "executor/storage/mapped_script.h"
#include "executor/storage/row_expiry.h"
#include "executor/storage/write_encoding.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

void WriteEncoding::write_call(Call& call) {
  WriteProgram& program = call.program;
  const WriteOptions& options = unit_.options_;
  const auto tables = written_tables();
  if (options.token) program.add(StepKind::kToken, {own_key(options.token->key), options.token->slot, options.token->number});
  add_versions(program);
  add_many_locks(program, call.locks);
  add_reads(program);
  add_many_guards(call);
  if (verify_only_) return;
  const WriteProgram mapped = options.mapped ? options.mapped->program() : WriteProgram();
  program.append(mapped, StepInfo::Phase::kGuard);
  // A change of definitions cannot be half done: a key that is no counter stops the program before it.
  for (const auto& [oid, table] : tables) {
    if (options.catalog) program.add(StepKind::kCounter, {table.counter});
  }
  if (!tables.empty() && makes_room()) program.add(StepKind::kRoom, {own_key(sql::kNoKey)});
  if (options.catalog) {
    std::vector<Word> words(options.catalog->keys.begin(), options.catalog->keys.end());
    words.insert(words.end(), options.catalog->arguments.begin(), options.catalog->arguments.end());
    program.add(StepKind::kDefinitions, {program.store(std::to_string(options.catalog->keys.size()))}, words);
  }
  for (const auto& [oid, table] : tables) program.add(StepKind::kCount, {table.counter});
  add_many_effects(call);
  add_journal(program);
  if (options.token) program.add(StepKind::kCommitted, {own_key(options.token->key), options.token->slot, options.token->number});
  program.append(mapped, StepInfo::Phase::kEffect);
}

/// Versions of the tables that change, and of those on whose definitions the checks rely.
void WriteEncoding::add_versions(WriteProgram& program) const {
  const std::optional<JournalStep>& journal = unit_.options_.journal;
  for (const auto& [oid, table] : written_tables()) {
    program.add(StepKind::kVersion, {unit_.words_.number(oid), journal ? Word(journal->owner) : table.version});
  }
  for (const auto& table : foreign_keys_.tables) program.add(StepKind::kVersion, {unit_.words_.number(table->oid), table->version});
}

/// Takes the locks, gives them back, or only looks whether others have any.
void WriteEncoding::add_many_locks(WriteProgram& program, const Range& range) const {
  const LockSet* locks = unit_.options_.locks;
  const bool takes = locks != nullptr && unit_.options_.buffer != nullptr;
  if (verify_only_ && !takes) return;
  if (locks != nullptr) program.add(StepKind::kLease, {program.store(process_key(locks->process(), tag_))});
  const Word owner = locks != nullptr ? Word(locks->token) : Word("", 0);
  std::vector<Word> own, others;
  std::string modes;
  for (std::size_t first = range.first; first < range.last;) {
    const PlacedTable& table = locks_[first].first;
    const Word key = program.store(lock_key(table));
    own.clear();
    others.clear();
    modes.clear();
    for (; first < range.last && locks_[first].first == table; ++first) {
      const Word lock = locks_[first].second;
      const bool is_own = locks != nullptr && !takes && lock.front() == '4';
      (is_own ? own : others).push_back(lock.substr(1));
      if (!is_own) modes += lock.front();
    }
    if (!others.empty()) program.add(takes ? StepKind::kLock : StepKind::kPass, {key, owner, program.store(modes)}, others);
    if (!own.empty()) program.add(StepKind::kGive, {key, owner, ""}, own);
  }
}

/// The reads of a stricter transaction, table by table: the counter and, unless the whole table counts, the rows.
void WriteEncoding::add_reads(WriteProgram& program) const {
  if (unit_.options_.reads == nullptr) return;
  std::vector<Word> words;
  for (const auto& [oid, table] : unit_.options_.reads->tables()) {
    program.add(table.whole ? StepKind::kStill : StepKind::kSince, {table.counter_key, table.counter});
    if (table.whole) continue;
    for (const ReadChecks::Row& row : table.rows) {
      words.assign(row.fields.begin(), row.fields.end());
      for (const auto& value : row.values) words.push_back(value ? Word(*value) : kNobody);
      program.add(StepKind::kAsRead, {row.key}, words);
    }
  }
}

/// Guards that note what they find: new keys, old rows, unique values, types of keys where nothing is applied, foreign keys.
void WriteEncoding::add_many_guards(Call& call) {
  WriteProgram& program = call.program;
  std::vector<Word> words;
  for (std::size_t index = call.new_rows.first; index < std::min(call.new_rows.last, checked_new_rows_); ++index) {
    words.push_back(unit_.changes_[new_rows_[index]].new_image.key);
  }
  if (!words.empty()) {
    call.note(Origin::Kind::kNewRow, call.new_rows.first);
    program.add(StepKind::kAbsents, {}, words);
  }
  add_old_rows(call);
  for (std::uint32_t key = 0; key < uniques_.keys.size(); ++key) add_owners(call, key);
  if (verify_only_) {
    const auto add_keys = [&](StepKind kind, const std::vector<Word>& keys, const Range& range) {
      if (range.size() > 0) program.add(kind, {}, std::span(keys).subspan(range.first, range.size()));
    };
    add_keys(StepKind::kAreSets, sets_.keys, call.sets);
    add_keys(StepKind::kAreZsets, zsets_.keys, call.zsets);
  }
  words.clear();
  for (std::size_t index = call.parents.first; index < call.parents.last; ++index) {
    const ReferencedPlace& place = foreign_keys_.parents[index].place;
    words.insert(words.end(), {place.key, place.field ? Word(*place.field) : kNobody});
  }
  if (!words.empty()) {
    call.note(Origin::Kind::kParent, call.parents.first);
    program.add(StepKind::kParents, {}, words);
  }
  for (std::size_t index = call.children.first; index < call.children.last; ++index) {
    const ChildrenPart& part = children_parts_[index];
    const ForeignKeyDemands::Children& children = foreign_keys_.children[part.children];
    words.clear();
    for (std::size_t member = part.gone.first; member < part.gone.last; ++member) {
      words.push_back(program.store(children.key->name_in_set(children.gone[member])));
    }
    call.note(Origin::Kind::kChildren, part.children);
    program.add(StepKind::kChildren, {children.set, part.gone.last == children.gone.size() ? "0" : "1"}, words);
  }
}

/// Old rows, step by step those with the same fields that must be unchanged; then the guards, rows that are only relied on.
void WriteEncoding::add_old_rows(Call& call) {
  WriteProgram& program = call.program;
  std::vector<Word> words;
  for (std::size_t first = call.old_rows.first; first < call.old_rows.last;) {
    const WriteUnit::Change& head = unit_.changes_[old_rows_[first]];
    const WriteUnit::Shape& shape = unit_.tables_[head.table].shapes[head.shape];
    const std::size_t begin = first;
    words.assign(shape.fields.begin(), shape.fields.end());
    for (; first < call.old_rows.last; ++first) {
      const WriteUnit::Change& change = unit_.changes_[old_rows_[first]];
      if (change.table != head.table || change.shape != head.shape || change.increments.empty() != head.increments.empty()) break;
      words.push_back(change.old_image.key);
      for (const Word expected : unit_.words_.range(change.expected, shape.fields.size())) words.push_back(is_null(expected) ? kNobody : expected);
    }
    if (only_adds(head)) continue;
    call.note(Origin::Kind::kOldRow, begin);
    program.add(StepKind::kSameRows, {unit_.words_.number(shape.fields.size())}, words);
  }
  for (std::size_t index = 0; call.is_last && index < unit_.guards_.size(); ++index) {
    const WriteUnit::Guard& guard = unit_.guards_[index];
    if (!is_in_bucket(guard)) continue;
    words.assign(guard.fields.begin(), guard.fields.end());
    words.push_back(guard.key);
    for (const auto& value : guard.values) words.push_back(value ? Word(*value) : kNobody);
    call.note(Origin::Kind::kGuard, 0);
    program.add(StepKind::kSameRows, {unit_.words_.number(guard.fields.size())}, words);
  }
}

/// Returns the unique values of a key that the call looks at.
WriteEncoding::Range WriteEncoding::checks_of(const Call& call, std::uint32_t key) const {
  const auto number_of = [](const std::pair<Argument, UniqueCheck>& check) { return check.first.key; };
  const auto begin = pending_checks_.begin() + static_cast<std::ptrdiff_t>(call.uniques.first);
  const auto end = pending_checks_.begin() + static_cast<std::ptrdiff_t>(call.uniques.last);
  const auto found = std::ranges::equal_range(begin, end, key, {}, number_of);
  return {static_cast<std::size_t>(found.begin() - pending_checks_.begin()), static_cast<std::size_t>(found.end() - pending_checks_.begin())};
}

/// Returns true if the step that brings the values of a key also says who may own them: the rows that get them.
bool WriteEncoding::claims_all(const Range& checks, const Range& additions) const {
  if (checks.size() != additions.size()) return false;
  for (std::size_t index = 0; index < checks.size(); ++index) {
    const UniqueCheck& check = pending_checks_[checks.first + index].second;
    const Argument& addition = unique_additions_[additions.first + index];
    if (check.field != addition.first || check.allowed != addition.second) return false;
  }
  return true;
}

WriteEncoding::Range WriteEncoding::additions_of(std::uint32_t key) const {
  const auto found = std::ranges::equal_range(unique_additions_, key, {}, &Argument::key);
  return {static_cast<std::size_t>(found.begin() - unique_additions_.begin()), static_cast<std::size_t>(found.end() - unique_additions_.begin())};
}

void WriteEncoding::add_owners(Call& call, std::uint32_t key) {
  const Range checks = checks_of(call, key);
  if (checks.size() == 0 || (!verify_only_ && claims_all(checks, additions_of(key)))) return;
  std::vector<Word> words;
  for (std::size_t index = checks.first; index < checks.last; ++index) words.push_back(pending_checks_[index].second.field);
  for (std::size_t index = checks.first; index < checks.last; ++index) {
    const Word allowed = pending_checks_[index].second.allowed;
    words.push_back(is_null(allowed) ? Word("", 0) : allowed);
  }
  call.note(Origin::Kind::kUnique, checks.first);
  call.program.add(StepKind::kOwners, {uniques_.keys[key]}, words);
}

/// Returns true if the unit only takes memory away: Redis lets it, while its memory is full.
bool WriteEncoding::makes_room() const {
  const std::optional<JournalStep>& journal = unit_.options_.journal;
  if (journal && journal->kind == JournalStep::Kind::kUndo) return true;
  const auto goes = [this](std::size_t number) { return unit_.changes_[number].kind == WriteUnit::Kind::kDelete; };
  return new_rows_.empty() && unit_.guards_.empty() && std::ranges::all_of(old_rows_, goes);
}

/// Rows and entries that go, then those that come: another row may take a key or a value.
void WriteEncoding::add_many_effects(Call& call) {
  WriteProgram& program = call.program;
  std::vector<Word> dropped, departing, arriving;
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kDelete) dropped.push_back(change.old_image.key);
    if (change.kind != WriteUnit::Kind::kUpdate || !moves(change)) continue;
    departing.push_back(change.old_image.key);
    arriving.push_back(change.new_image.key);
  }
  if (!dropped.empty()) program.add(StepKind::kDrops, {}, dropped);
  if (!departing.empty()) program.add(StepKind::kDepart, {}, departing);
  add_sets(program, set_removals_, StepKind::kSetsRemove, StepKind::kMembersRemove);
  add_groups(program, zset_removals_, zsets_.keys, StepKind::kScoresRemove, false);
  add_releases(program);
  add_emptied(program);
  add_new_rows(program);
  if (!arriving.empty()) program.add(StepKind::kArrive, {}, arriving);
  add_changed_rows(program);
  add_expiries(program);
  add_sets(program, set_additions_, StepKind::kSetsAdd, StepKind::kMembersAdd);
  add_groups(program, zset_additions_, zsets_.keys, StepKind::kScoresAdd, true);
  for (std::uint32_t key = 0; key < uniques_.keys.size(); ++key) {
    const Range checks = checks_of(call, key), additions = additions_of(key);
    if (additions.size() == 0) continue;
    std::vector<Word> words;
    for (std::size_t index = additions.first; index < additions.last; ++index) {
      words.insert(words.end(), {unique_additions_[index].first, unique_additions_[index].second});
    }
    const bool are_claimed = claims_all(checks, additions);
    if (are_claimed) call.note(Origin::Kind::kUnique, checks.first);
    program.add(are_claimed ? StepKind::kClaims : StepKind::kOwns, {uniques_.keys[key]}, words);
  }
}

/// Key by key what goes to it.
void WriteEncoding::add_groups(WriteProgram& program, std::vector<Argument>& arguments, const std::vector<Word>& keys, StepKind kind,
                               bool with_second) const {
  std::ranges::stable_sort(arguments, {}, &Argument::key);
  std::vector<Word> words;
  for (std::size_t first = 0; first < arguments.size();) {
    const std::uint32_t key = arguments[first].key;
    words.clear();
    for (; first < arguments.size() && arguments[first].key == key; ++first) {
      words.push_back(arguments[first].first);
      if (with_second) words.push_back(arguments[first].second);
    }
    program.add(kind, {keys[key]}, words);
  }
}

/// Members of sets: those of one column's values in one step, which names the column's key once.
void WriteEncoding::add_sets(WriteProgram& program, std::vector<Argument>& arguments, StepKind of_values, StepKind of_others) const {
  const auto is_named = [this](const Argument& argument) { return !is_null(named_sets_[argument.key].value); };
  const auto others = std::ranges::stable_partition(arguments, is_named);
  std::vector<Argument> unnamed(others.begin(), others.end());
  arguments.erase(others.begin(), others.end());
  const auto place = [this](const Argument& argument) { return std::pair(named_sets_[argument.key].values, argument.key); };
  std::ranges::stable_sort(arguments, {}, place);
  std::vector<Word> words;
  for (std::size_t first = 0; first < arguments.size();) {
    const std::uint32_t values = named_sets_[arguments[first].key].values;
    words.clear();
    while (first < arguments.size() && named_sets_[arguments[first].key].values == values) {
      const std::uint32_t key = arguments[first].key;
      const std::size_t count_at = words.size() + 1, begin = first;
      words.insert(words.end(), {named_sets_[key].value, Word()});
      for (; first < arguments.size() && arguments[first].key == key; ++first) words.push_back(arguments[first].first);
      words[count_at] = unit_.words_.number(first - begin);
    }
    program.add(of_values, {sets_.keys[values]}, words);
  }
  add_groups(program, unnamed, sets_.keys, of_others, false);
}

/// Unique values that go, with the members that must own them.
void WriteEncoding::add_releases(WriteProgram& program) {
  std::ranges::stable_sort(unique_removals_, {}, &Argument::key);
  std::vector<Word> words, members;
  for (std::size_t first = 0; first < unique_removals_.size();) {
    const std::uint32_t key = unique_removals_[first].key;
    words.clear();
    members.clear();
    for (; first < unique_removals_.size() && unique_removals_[first].key == key; ++first) {
      words.push_back(unique_removals_[first].first);
      members.push_back(unique_removals_[first].second);
    }
    words.insert(words.end(), members.begin(), members.end());
    program.add(StepKind::kReleases, {uniques_.keys[key]}, words);
  }
}

/// Keys of values that lose members, where the step of their sets does not look after them: once each.
void WriteEncoding::add_emptied(WriteProgram& program) {
  std::ranges::sort(emptied_, {}, [](const EmptyValue& value) { return std::pair(value.values, value.key); });
  const auto same = std::ranges::unique(emptied_, {}, &EmptyValue::key);
  emptied_.erase(same.begin(), same.end());
  std::vector<Word> words;
  for (std::size_t first = 0; first < emptied_.size();) {
    const std::uint32_t values = emptied_[first].values;
    words.clear();
    for (; first < emptied_.size() && emptied_[first].values == values; ++first) {
      words.insert(words.end(), {word_of(emptied_[first].key), emptied_[first].entry});
    }
    program.add(StepKind::kEmptieds, {sets_.keys[values]}, words);
  }
}

/// New rows, step by step those with the same fields.
void WriteEncoding::add_new_rows(WriteProgram& program) const {
  std::vector<Word> names, row_names, values, words;
  const auto flush = [&] {
    if (!words.empty()) program.add(StepKind::kHsets, {unit_.words_.number(names.size())}, words);
    words.clear();
  };
  for (const std::size_t number : new_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    unit_.tables_[change.table].encoder.fields_of(change.new_image, unit_.words_, row_names, values);
    if (words.empty() || row_names != names) {
      flush();
      names = row_names;
      words = names;
    }
    words.push_back(change.new_image.key);
    words.insert(words.end(), values.begin(), values.end());
  }
  flush();
}

/// Rows that stay: fields to set and to remove, fields that grow.
void WriteEncoding::add_changed_rows(WriteProgram& program) const {
  std::vector<Word> words, set, removed, increments;
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    for (const std::size_t position : change.increments) {
      const Increment increment = increment_of(change, position);
      increments.insert(increments.end(), {change.old_image.key, increment.field, increment.number, increment.bound});
    }
    if (change.kind != WriteUnit::Kind::kUpdate || moves(change)) continue;
    set.clear();
    removed.clear();
    collect_field_changes(change, set, removed);
    if (set.empty() && removed.empty()) continue;
    words.push_back(change.old_image.key);
    for (const std::vector<Word>* part : {&set, &removed}) {
      words.push_back(unit_.words_.number(part->size()));
      words.insert(words.end(), part->begin(), part->end());
    }
  }
  if (!words.empty()) program.add(StepKind::kChanges, {}, words);
  if (!increments.empty()) program.add(StepKind::kAdds, {}, increments);
}

/// Rows of tables whose rows expire that come, go or change, by table. Those that go are first: another row may take the key.
void WriteEncoding::add_expiries(WriteProgram& program) const {
  std::map<std::uint32_t, std::vector<std::size_t>> changes;  // by table
  for (std::size_t number = 0; number < limit_; ++number) {
    const std::uint32_t table = unit_.changes_[number].table;
    if (is_active(number) && unit_.tables_[table].encoder.table().rows_expire()) changes[table].push_back(number);
  }
  std::vector<Word> words;
  for (const auto& [table, numbers] : changes) {
    const RowEncoder& encoder = unit_.tables_[table].encoder;
    words.clear();
    for (const std::size_t number : numbers) {
      const WriteUnit::Change& change = unit_.changes_[number];
      const bool goes = change.kind == WriteUnit::Kind::kDelete || (change.kind == WriteUnit::Kind::kUpdate && moves(change));
      if (goes) words.insert(words.end(), {"gone", change.old_image.key, change.old_image.member, "", ""});
    }
    for (const std::size_t number : numbers) {
      const WriteUnit::Change& change = unit_.changes_[number];
      if (change.kind == WriteUnit::Kind::kDelete) continue;
      const bool is_index = change.kind == WriteUnit::Kind::kIndex;
      const bool stays = change.kind == WriteUnit::Kind::kUpdate && !moves(change);
      const bool is_set = change.kind == WriteUnit::Kind::kInsert ||
                          (!is_index && changes_expiry(encoder, change.old_image, change.new_image, unit_.words_));
      Word expiry("", 0);
      if (change.expires_at) expiry = time_left(*change.expires_at, unit_.words_);
      else if (is_set) expiry = time_to_live(encoder, change.new_image, unit_.words_);
      const Word listed = unit_.words_.store(row_entries(encoder, change.new_image, unit_.words_, !is_index));
      words.insert(words.end(), {is_index ? "index" : stays ? "same" : "new", change.new_image.key, change.new_image.member, expiry, listed});
    }
    const Word due = unit_.words_.store(encoder.keys().expiries()), entries = unit_.words_.store(encoder.keys().entries());
    program.add(StepKind::kExpire, {due, entries, unit_.words_.store(encoder.table().prefix)}, words);
  }
}

/// A journaled unit's note of this chunk, by which it can be undone; or that it is undone.
void WriteEncoding::add_journal(WriteProgram& program) const {
  const std::optional<JournalStep>& journal = unit_.options_.journal;
  if (!journal) return;
  if (journal->kind == JournalStep::Kind::kUndo) return program.add(StepKind::kUnjournal, {journal->key});
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
  if (!records.empty()) program.add(StepKind::kJournal, {journal->key, unit_.words_.store(records)});  // otherwise all of its rows have given way
}

}  // namespace redquel::executor
