// The arguments of plain_write.lua, section by section: a function write_plain_… here has the name of its "-- Section" there. They are the
// words of the commands themselves, in the order in which these run.

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "executor/scripts/scripts.h"
#include "executor/storage/write_encoding.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

/// More rows than these, and the script's own loops cost less than the words of the commands.
constexpr std::size_t kPlainRows = 16;
/// The words of a unit of four rows; only a guess.
constexpr std::size_t kUsualWords = 128;

// MessagePack: https://github.com/msgpack/msgpack/blob/master/spec.md

void append_big_endian(std::string& packed, std::size_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) packed += static_cast<char>(number >> shift & 0xff);
}

/// Appends the head of an array or text; `marks`: of the forms with 8, 16 and 32 bits of length (0: there is none).
void append_head(std::string& packed, std::size_t size, unsigned char fixed, std::size_t most_fixed, std::array<unsigned char, 3> marks) {
  if (size <= most_fixed) {
    packed += static_cast<char>(fixed | size);
  } else if (marks[0] != 0 && size <= 0xff) {
    packed += static_cast<char>(marks[0]);
    append_big_endian(packed, size, 1);
  } else if (size <= 0xffff) {
    packed += static_cast<char>(marks[1]);
    append_big_endian(packed, size, 2);
  } else {
    packed += static_cast<char>(marks[2]);
    append_big_endian(packed, size, 4);
  }
}

/// Returns an array of texts.
std::string packed(std::span<const std::string_view> texts) {
  std::string result;
  append_head(result, texts.size(), 0x90, 15, {0, 0xdc, 0xdd});
  for (const std::string_view text : texts) {
    append_head(result, text.size(), 0xa0, 31, {0xd9, 0xda, 0xdb});
    result.append(text);
  }
  return result;
}

}  // namespace

/// Returns true if the script can do all that the unit needs.
bool WriteEncoding::is_plain() const {
  const WriteOptions& options = unit_.options_;
  if (verify_only_ || options.ahead_of_commit || options.buffer != nullptr) return false;
  if (options.catalog || options.mapped || options.journal) return false;
  if (options.reads != nullptr && !options.reads->empty()) return false;
  if (limit_ > kPlainRows || locks_.size() > 4 * kPlainRows || checked_new_rows_ < new_rows_.size()) return false;
  if (!foreign_keys_.empty() || !unique_removals_.empty() || !unit_.guards_.empty()) return false;
  for (std::size_t number = 0; number < limit_; ++number) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kIndex || change.revives || change.skip_if_exists || change.run_again_if_exists) return false;
    if (!is_active(number) || unit_.tables_[change.table].encoder.table().rows_expire()) return false;
    if (change.kind == WriteUnit::Kind::kUpdate && moves(change)) return false;
  }
  return true;
}

/// Writes the number of words, and the words.
void WriteEncoding::write_words(std::initializer_list<Word> first, std::span<const Word> others) {
  put(first.size() + others.size());
  for (const Word word : first) put(word);
  for (const Word word : others) put(word);
}

std::optional<CommandBatch> WriteEncoding::plain_command() {
  if (!is_plain()) return std::nullopt;
  arguments_.reserve(kUsualWords);
  write_plain_token();
  write_plain_expected();
  write_plain_locks();
  write_plain_new_keys();
  write_plain_types();
  write_plain_increments();
  write_plain_counters();
  write_plain_changes();
  write_plain_emptied_sets();
  CommandBatch batch;
  std::size_t bytes = kUsualWords;
  for (const Word word : arguments_) bytes += word.size() + 8;
  batch.reserve(bytes);
  std::vector<Word> keys;  // in a cluster one, for the way to the bucket
  if (sql::uses_cluster()) keys.push_back(own_key(sql::kVersionsKey));
  kPlainWriteScript.append_call(batch, keys, arguments_);
  arguments_.clear();
  return batch;
}

std::optional<std::vector<std::string>> WriteEncoding::plain_prepare() {
  if (!is_plain()) return std::nullopt;
  arguments_.reserve(kUsualWords);
  std::string redo = plain_redo();
  write_plain_owner();
  write_plain_expected();
  write_plain_prepared_locks();
  write_plain_new_keys();
  write_plain_types();
  write_plain_increments();
  write_plain_counters();
  write_plain_old_rows();
  std::vector<std::string> words(arguments_.begin(), arguments_.end());
  words.push_back(std::move(redo));
  arguments_.clear();
  return words;
}

/// The owner of the locks; "": there are none.
void WriteEncoding::write_plain_owner() { put(unit_.options_.locks != nullptr ? Word(unit_.options_.locks->token) : Word()); }

/// Returns counters, changes and emptied sets, packed.
std::string WriteEncoding::plain_redo() {
  write_plain_counters();
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    for (const std::size_t position : change.increments) {
      std::vector<Word> before = std::exchange(arguments_, {});
      write_increment(change.old_image.key, change, position);  // key, field, by how much, bound
      const std::vector<Word> increment = std::exchange(arguments_, std::move(before));
      write_words({"HINCRBY"}, std::span(increment).first(3));
    }
  }
  write_plain_rows();
  put(Word());
  write_plain_emptied_sets();
  std::string redo = packed(arguments_);
  arguments_.clear();
  return redo;
}

/// Rows that must not expire before the commit is applied.
void WriteEncoding::write_plain_old_rows() {
  std::vector<Word> keys;
  for (const std::size_t number : old_rows_) keys.push_back(unit_.changes_[number].old_image.key);
  write_words({}, keys);
}

/// The slot that notes the commit, and its number; the owner of the locks.
void WriteEncoding::write_plain_token() {
  const CommitToken none;
  const CommitToken& token = unit_.options_.token ? *unit_.options_.token : none;
  put(own_key(token.key));
  for (const std::string* word : {&token.slot, &token.number}) put(*word);
  write_plain_owner();
}

/// Hashes and their fields, with what these must hold: versions of definitions, old rows, unique values.
void WriteEncoding::write_plain_expected() {
  const std::map<sql::Oid, WrittenTable> tables = written_tables();
  std::vector<Word> words;
  for (const auto& [oid, table] : tables) words.push_back(unit_.words_.number(oid));
  if (!words.empty()) write_words({own_key(sql::kVersionsKey)}, words);  // a part of a commit may have locks alone
  for (const auto& [oid, table] : tables) put(table.version);
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (only_adds(change)) continue;
    const WriteUnit::Shape& shape = unit_.tables_[change.table].shapes[change.shape];
    words.assign(shape.fields.begin(), shape.fields.end());
    write_words({change.old_image.key}, words);
    for (const Word expected : unit_.words_.range(change.expected, words.size())) put(is_null(expected) ? kNobody : expected);
  }
  for (const auto& [value, check] : pending_checks_) {
    put(std::size_t{2});
    put(uniques_.keys[value.key]);
    put(check.field);
    put(kNobody);
  }
  put(Word());
}

std::vector<WriteEncoding::PlainLocks> WriteEncoding::plain_locks() {
  std::vector<PlainLocks> tables;
  for (std::size_t first = 0; first < locks_.size();) {
    PlainLocks& table = tables.emplace_back();
    table.key = unit_.words_.store(lock_key(locks_[first].first));
    const PlacedTable locked = locks_[first].first;
    for (; first < locks_.size() && locks_[first].first == locked; ++first) {
      const Word lock = locks_[first].second;
      const bool is_own = unit_.options_.locks != nullptr && lock.front() == '4';
      (is_own ? table.own : table.others).push_back(lock);
    }
  }
  return tables;
}

/// The own lease, and the tables in which there are no locks of the transaction.
void WriteEncoding::write_plain_leases(const std::vector<PlainLocks>& tables) {
  std::vector<Word> looked;
  for (const PlainLocks& table : tables) {
    if (table.own.empty()) looked.push_back(table.key);
  }
  std::size_t leases = 0;
  if (unit_.options_.locks != nullptr) {
    leases = looked.size() + 1;
    looked.insert(looked.end(), leases, unit_.words_.store(process_key(unit_.options_.locks->process(), tag_)));
  }
  put(leases);
  write_words({}, looked);
}

/// The own lease and the tables in which there are no locks of the transaction, looked at together; then table by table.
void WriteEncoding::write_plain_locks() {
  const std::vector<PlainLocks> tables = plain_locks();
  write_plain_leases(tables);
  for (const PlainLocks& table : tables) {
    put(table.own.size());
    std::vector<Word> fields;
    for (const Word lock : table.own) fields.push_back(lock.substr(1));
    if (!table.others.empty()) fields.push_back("t");
    for (const Word lock : table.others) fields.push_back(lock.substr(1));
    write_words({table.key}, fields);
  }
  put(Word());
}

/// Writes the section "prepared locks": the words of write_plain_locks(), and the modes of the locks that the commit takes.
void WriteEncoding::write_plain_prepared_locks() {
  const std::vector<PlainLocks> tables = plain_locks();
  write_plain_leases(tables);
  for (const PlainLocks& table : tables) {
    put(table.own.size());
    std::string modes;
    std::vector<Word> fields{"t"};
    for (const Word lock : table.own) fields.push_back(lock.substr(1));
    for (const Word lock : table.others) {
      modes += lock.front();
      fields.push_back(lock.substr(1));
    }
    put(unit_.words_.store(modes));
    write_words({table.key}, fields);
  }
  put(Word());
}

/// Keys that must not be there.
void WriteEncoding::write_plain_new_keys() {
  std::vector<Word> keys;
  for (const std::size_t number : new_rows_) keys.push_back(unit_.changes_[number].new_image.key);
  write_words({}, keys);
}

/// Commands that end in an error if a key is of another type. (An intersection with a key that never exists is empty at once.)
void WriteEncoding::write_plain_types() {
  if (!sets_.keys.empty()) write_words({"SINTERCARD", unit_.words_.number(sets_.keys.size() + 1), own_key(sql::kNoKey)}, sets_.keys);
  for (const Word key : zsets_.keys) write_words({"ZCARD", key}, {});
  put(Word());
}

/// Fields that grow.
void WriteEncoding::write_plain_increments() {
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    for (const std::size_t position : change.increments) write_increment(change.old_image.key, change, position);
  }
  put(Word());
}

/// Counters of changes.
void WriteEncoding::write_plain_counters() {
  std::vector<Word> keys;
  for (const auto& [oid, table] : written_tables()) keys.push_back(table.counter);
  write_words({}, keys);
}

/// Commands: rows and entries that go, those that come.
void WriteEncoding::write_plain_rows() {
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kDelete) write_words({"UNLINK", change.old_image.key}, {});
  }
  for (const Argument& removal : set_removals_) write_words({"SREM", sets_.keys[removal.key], removal.first}, {});
  for (const Argument& removal : zset_removals_) write_words({"ZREM", zsets_.keys[removal.key], removal.first}, {});
  std::vector<Word> names, values, words;
  for (const std::size_t number : new_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    unit_.tables_[change.table].encoder.fields_of(change.new_image, unit_.words_, names, values);
    words.clear();
    for (std::size_t field = 0; field < names.size(); ++field) words.insert(words.end(), {names[field], values[field]});
    write_words({"HSET", change.new_image.key}, words);
  }
  for (const std::size_t number : old_rows_) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind != WriteUnit::Kind::kUpdate) continue;
    words.clear();
    names.clear();
    collect_field_changes(change, words, names);
    if (!words.empty()) write_words({"HSET", change.old_image.key}, words);
    if (!names.empty()) write_words({"HDEL", change.old_image.key}, names);
  }
  for (const Argument& entry : set_additions_) write_words({"SADD", sets_.keys[entry.key], entry.first}, {});
  for (const Argument& entry : zset_additions_) write_words({"ZADD", zsets_.keys[entry.key], entry.first, entry.second}, {});
  for (const Argument& entry : unique_additions_) write_words({"HSET", uniques_.keys[entry.key], entry.first, entry.second}, {});
}

/// The commands of rows; locks that are given back.
void WriteEncoding::write_plain_changes() {
  write_plain_rows();
  std::vector<Word> words;
  for (std::size_t first = 0; unit_.options_.locks != nullptr && first < locks_.size();) {
    const PlacedTable table = locks_[first].first;
    words.clear();
    for (; first < locks_.size() && locks_[first].first == table; ++first) {
      if (locks_[first].second.front() == '4') words.push_back(locks_[first].second.substr(1));
    }
    if (!words.empty()) write_words({"HDEL", unit_.words_.store(lock_key(table))}, words);
  }
  put(Word());
}

/// Sets and zsets that lose members: the key, the set of values, the value.
void WriteEncoding::write_plain_emptied_sets() {
  order_emptied();
  for (const EmptyValue& value : emptied_) {
    put(word_of(value.key));
    put(sets_.keys[value.values]);
    put(value.entry);
  }
}

}  // namespace redquel::executor
