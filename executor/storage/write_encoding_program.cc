// A unit of few rows as a program of write.lua: guards, then effects.

#include <algorithm>
#include <string>

#include "executor/storage/prepared_record.h"
#include "executor/storage/write_encoding.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

/// Units of more rows have steps of many rows, which cost less from there on (bench/write_instructions.py).
constexpr std::size_t kAppliedRows = 4;

}  // namespace

/// Returns true if steps can say all that the unit needs.
bool WriteEncoding::has_program() const {
  const WriteOptions& options = unit_.options_;
  if (verify_only_ || options.ahead_of_commit || options.buffer != nullptr) return false;
  if (options.catalog || options.mapped || options.journal) return false;
  if (options.reads != nullptr && !options.reads->empty()) return false;
  if (limit_ > kProgramRows || locks_.size() > 4 * kProgramRows || foreign_keys_.parents.size() > 4 * kProgramRows) return false;
  if (foreign_keys_.violation || foreign_keys_.children.size() > 4 * kProgramRows) return false;
  if (!std::ranges::all_of(foreign_keys_.children, [](const ForeignKeyDemands::Children& children) { return children.gone.empty(); })) return false;
  for (std::size_t number = 0; number < limit_; ++number) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kIndex || change.revives || change.skip_if_exists) return false;
    if (!is_active(number) || unit_.tables_[change.table].encoder.table().rows_expire()) return false;
    if (change.kind == WriteUnit::Kind::kUpdate && moves(change)) return false;
  }
  const auto brings_value = [](const EntryEffect& entry) { return entry.comes && entry.element.form == &sql::kHashForm; };
  return std::ranges::count_if(entries_, brings_value) == std::ssize(pending_checks_);  // otherwise the commit checks some of them
}

bool WriteEncoding::has_unique_effects() const {
  return !uniques_.keys.empty() || std::ranges::any_of(entries_, [](const EntryEffect& entry) { return entry.element.form == &sql::kHashForm; });
}

std::optional<WriteProgram> WriteEncoding::program() {
  if (limit_ > kAppliedRows || !has_program()) return std::nullopt;
  WriteProgram program;
  program.reserve(64 * limit_);
  const std::optional<CommitToken>& token = unit_.options_.token;
  if (token) program.add(StepKind::kToken, {own_key(token->key), token->slot, token->number});
  const auto tables = written_tables();
  add_versions(program);
  add_row_guards(program);
  add_locks(program);
  add_foreign_keys(program);
  for (const auto& [oid, table] : tables) program.add(StepKind::kCount, {table.counter});
  add_row_effects(program);
  for (const TableLocks& table : locks_by_table()) {
    if (!table.own.empty()) program.add(StepKind::kHdel, {program.store(lock_key(table.table))}, table.own);
  }
  if (token) program.add(StepKind::kCommitted, {own_key(token->key), token->slot, token->number});
  return program;
}

std::span<const std::string_view> WriteEncoding::prepare(const ReadChecks& reads, const std::vector<std::string>& definitions) {
  const bool has_few = limit_ <= kAppliedRows && has_program();
  if (!has_few) finish_groups();
  Call& call = calls_.emplace_back();
  call.words_before = 1 + step_info(StepKind::kUnprepared).fixed_words();
  call.new_rows = {0, new_rows_.size()};
  call.old_rows = {0, old_rows_.size()};
  call.uniques = {0, pending_checks_.size()};
  call.parents = {0, foreign_keys_.parents.size()};
  call.children = {0, children_parts_.size()};
  call.is_last = true;
  WriteProgram& program = call.program;
  std::vector<Word> words(definitions.begin(), definitions.end());
  if (!words.empty()) program.add(StepKind::kParts, {}, words);
  add_versions(program);
  words.clear();
  for (const auto& [table, checks] : reads.tables()) words.push_back(own_key(program.store(std::string(sql::kLocksPrefix) + std::to_string(table))));
  if (!words.empty()) program.add(StepKind::kReading, {}, words);
  add_pledges(program);
  add_reads(program);
  if (has_few) {
    add_row_guards(program);
    add_foreign_keys(program);
  } else {
    add_many_guards(call);
  }
  const auto tables = written_tables();
  for (const auto& [oid, table] : tables) program.add(StepKind::kCounter, {table.counter});
  words.clear();
  for (const std::size_t number : old_rows_) words.push_back(unit_.changes_[number].old_image.key);
  for (const WriteUnit::Guard& guard : unit_.guards_) {
    if (is_in_bucket(guard)) words.push_back(guard.key);
  }
  if (!words.empty()) program.add(StepKind::kLasting, {}, words);
  for (const auto& [oid, table] : tables) program.add(StepKind::kCount, {table.counter});
  if (has_few) add_row_effects(program);
  else add_many_effects(call);
  const Word owner = unit_.options_.locks != nullptr ? Word(unit_.options_.locks->token) : Word("", 0);
  program.add(StepKind::kRecord, {owner, program.store(packed_words(program.effects()))});
  if (unit_.options_.show_program) unit_.options_.show_program(program);
  return program.words();
}

/// Old rows, rows that are relied on, keys of new rows.
void WriteEncoding::add_row_guards(WriteProgram& program) const {
  std::vector<Word> words;
  const auto add_row = [&](Word key) {
    for (Word& word : words) word = is_null(word) ? kNobody : word;
    program.add(StepKind::kRow, {key}, words);
  };
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (only_adds(change)) continue;
    const WriteUnit::Shape& shape = unit_.tables_[change.table].shapes[change.shape];
    words.assign(shape.fields.begin(), shape.fields.end());
    const auto expected = unit_.words_.range(change.expected, shape.fields.size());
    words.insert(words.end(), expected.begin(), expected.end());
    add_row(change.old_image.key);
  }
  for (const WriteUnit::Guard& guard : unit_.guards_) {
    if (!is_in_bucket(guard)) continue;  // of a value in this bucket whose row is in another one
    words.assign(guard.fields.begin(), guard.fields.end());
    for (const auto& value : guard.values) words.push_back(value ? Word(*value) : kNobody);
    add_row(guard.key);
  }
  for (std::size_t index = 0; index < checked_new_rows_; ++index) program.add(StepKind::kAbsent, {unit_.changes_[new_rows_[index]].new_image.key});
}

std::vector<WriteEncoding::TableLocks> WriteEncoding::locks_by_table() const {
  std::vector<TableLocks> tables;
  for (const auto& [table, lock] : locks_) {
    if (tables.empty() || tables.back().table != table) tables.push_back({table, {}, {}});
    const bool is_own = unit_.options_.locks != nullptr && lock.front() == '4';
    (is_own ? tables.back().own : tables.back().others).push_back(lock.substr(1));
  }
  return tables;
}

/// The own lease, the locks of the transaction, and those that others must not have.
void WriteEncoding::add_locks(WriteProgram& program) const {
  const LockSet* locks = unit_.options_.locks;
  if (locks != nullptr) program.add(StepKind::kLease, {program.store(process_key(locks->process(), tag_))});
  for (const TableLocks& table : locks_by_table()) {
    const Word key = program.store(lock_key(table.table));
    // In a cluster a prepared commit of a stricter transaction may have locked the table after the transaction had locked its rows.
    if (!table.others.empty() || sql::uses_cluster()) program.add(StepKind::kFree, {key}, table.others);
    if (!table.own.empty()) program.add(StepKind::kHeld, {key, locks->token}, table.own);
  }
}

/// Adds the steps that make the transaction's locks those of the prepared commit.
void WriteEncoding::add_pledges(WriteProgram& program) const {
  const LockSet* locks = unit_.options_.locks;
  if (locks != nullptr) program.add(StepKind::kLease, {program.store(process_key(locks->process(), tag_))});
  std::string modes;
  std::size_t first = 0;
  for (const TableLocks& table : locks_by_table()) {
    modes.clear();
    for (const std::size_t last = first + table.own.size() + table.others.size(); first < last; ++first) {
      const Word lock = locks_[first].second;
      if (locks == nullptr || lock.front() != '4') modes += lock.front();
    }
    std::vector<Word> fields = table.own;
    fields.insert(fields.end(), table.others.begin(), table.others.end());
    const Word owner = locks != nullptr ? Word(locks->token) : Word("", 0);
    program.add(StepKind::kPledge, {program.store(lock_key(table.table)), owner, unit_.words_.number(table.own.size()), program.store(modes)}, fields);
  }
}

/// Rows are there that others refer to, and nothing refers to those that go.
void WriteEncoding::add_foreign_keys(WriteProgram& program) const {
  for (const ForeignKeyDemands::Parent& parent : foreign_keys_.parents) {
    if (parent.place.field) program.add(StepKind::kParentValue, {parent.place.key, *parent.place.field});
    else program.add(StepKind::kParent, {parent.place.key});
  }
  for (const ForeignKeyDemands::Children& children : foreign_keys_.children) program.add(StepKind::kNoChildren, {children.set});
}

/// Rows and entries that go, then those that come: another row may take a key or a value.
void WriteEncoding::add_row_effects(WriteProgram& program) const {
  std::vector<Word> names, values, words;
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kDelete) program.add(StepKind::kDrop, {change.old_image.key});
    for (const std::size_t position : change.increments) {
      const Increment increment = increment_of(change, position);
      program.add(StepKind::kHincr, {change.old_image.key, increment.field, increment.number, increment.bound});
    }
  }
  for (const EntryEffect& entry : entries_) {
    if (entry.comes) continue;
    const sql::StructureElement& element = entry.element;
    if (element.form == &sql::kHashForm) program.add(StepKind::kRelease, {element.key, element.name, element.value});
    else add_entry(program, entry);
  }
  for (const std::size_t number : new_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    unit_.tables_[change.table].encoder.fields_of(change.new_image, unit_.words_, names, values);
    words.clear();
    for (std::size_t field = 0; field < names.size(); ++field) words.insert(words.end(), {names[field], values[field]});
    program.add(StepKind::kHset, {change.new_image.key}, words);
  }
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind != WriteUnit::Kind::kUpdate) continue;
    words.clear();
    names.clear();
    collect_field_changes(change, words, names);
    if (!words.empty()) program.add(StepKind::kHset, {change.old_image.key}, words);
    if (!names.empty()) program.add(StepKind::kHdel, {change.old_image.key}, names);
  }
  add_claims(program);
  for (const EntryEffect& entry : entries_) {
    if (entry.comes && entry.element.form != &sql::kHashForm) add_entry(program, entry);
  }
}

void WriteEncoding::add_claims(WriteProgram& program) const {
  for (const auto& [value, check] : pending_checks_) {
    const Word hash = uniques_.keys[value.key];
    if (check.allowed == value.second) program.add(StepKind::kClaim, {hash, check.field, value.second});
    else program.add(StepKind::kInherit, {hash, check.field, value.second, check.allowed});
  }
}

}  // namespace redquel::executor
