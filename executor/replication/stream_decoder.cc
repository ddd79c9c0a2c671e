#include "executor/replication/stream_decoder.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include "sql/ascii.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using Kind = TableChange::Kind;
using Words = std::vector<std::string>;

sql::SqlError lost_changes(const std::string& reason) {
  return sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, "can no longer get changes from this replication slot").detail(reason);
}

StreamRow::StreamRow(PublishedTablePtr table, std::string member) : table_(std::move(table)), member_(std::move(member)) {
  if (table_) values_.resize(table_->columns().size());
}

void StreamRow::set(std::string_view field, std::optional<std::string> value) {
  const auto found = table_->find_field(field);
  if (!found) return;
  ChangedValue& changed = values_[found->column];
  if (!found->is_null) {
    // Without its field a column with a value for older rows has that value, unless another field says NULL.
    const auto& missing = table_->columns()[found->column]->missing;
    if (value) changed = {ChangedValue::Kind::kText, *std::move(value)};
    else if (!missing) changed = {ChangedValue::Kind::kNull, {}};
  } else if (value) {
    changed = {ChangedValue::Kind::kNull, {}};
  }
}

void StreamRow::set_unread(std::string_view field) {
  if (const auto found = table_->find_field(field)) values_[found->column] = {ChangedValue::Kind::kUnread, {}};
}

TableChange StreamRow::change(TableChange::Kind kind) const {
  TableChange made{.kind = kind, .table = table_, .member = member_, .values = values_};
  for (auto& [column, text] : table_->key_values(member_)) {
    if (made.values[column].kind != ChangedValue::Kind::kText) made.values[column] = {ChangedValue::Kind::kText, std::move(text)};
  }
  return made;
}

TableChange StreamRow::insertion() && {
  TableChange made = change(TableChange::Kind::kInsert);
  for (std::size_t column = 0; column < made.values.size(); ++column) {
    if (made.values[column].kind != ChangedValue::Kind::kUnchanged) continue;
    const auto& missing = table_->columns()[column]->missing;
    if (missing) made.values[column] = {ChangedValue::Kind::kText, *missing};
    else made.values[column] = {ChangedValue::Kind::kNull, {}};
  }
  return made;
}

TableChange StreamRow::update() && { return change(TableChange::Kind::kUpdate); }
TableChange StreamRow::removal() const { return change(TableChange::Kind::kDelete); }

namespace {

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return upper;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) { return std::ranges::find(names, name) != names.end(); }

std::optional<sql::Oid> oid_of(std::string_view text) {
  sql::Oid oid = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), oid);
  return failure == std::errc() && stop == text.data() + text.size() && !text.empty() ? std::optional(oid) : std::nullopt;
}

int number_of(std::string_view text) { return static_cast<int>(oid_of(text).value_or(0)); }

/// Commands that change no key.
bool is_without_keys(std::string_view name) {
  return is_one_of(name, {"PING", "REPLCONF", "PUBLISH", "SPUBLISH", "FUNCTION", "SCRIPT"});
}
bool changes_expiry_alone(std::string_view name) { return is_one_of(name, {"EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST"}); }
bool removes_keys(std::string_view name) { return name == "UNLINK" || name == "DEL"; }

/// The keys of a command on rows or structures.
Words keys_of(std::string_view name, const Words& words) {
  if (removes_keys(name)) return {words.begin() + 1, words.end()};
  if (is_one_of(name, {"RENAME", "RENAMENX", "COPY", "SMOVE", "LMOVE", "RPOPLPUSH"}) && words.size() > 2) return {words[1], words[2]};
  if (is_one_of(name, {"MSET", "MSETNX"})) {
    Words keys;
    for (std::size_t index = 1; index < words.size(); index += 2) keys.push_back(words[index]);
    return keys;
  }
  return {words[1]};
}

/// Returns true for the keys that a table has beside its rows.
bool is_structure(std::string_view rest) {
  const std::string_view first = rest.substr(0, rest.find(':'));
  return is_one_of(first, {"zset", "indices", "uniques", "id", "rowid"});
}

}  // namespace

/// The changes of one row within a block.
struct StreamDecoder::RowState {
  PublishedTablePtr table;
  std::string key;
  std::optional<std::string> member;
  bool was_removed = false;  // its key, or its member, before `values` came
  bool is_new = false;       // it has become a member
  bool is_touched = false;   // fields have changed
  bool is_unknown = false;   // by a command that does not show the fields
  StreamRow image{nullptr, {}};  // without the member
};

/// The net changes of one block, as they are collected.
class StreamDecoder::Unit {
 public:
  std::vector<PublishedTablePtr> truncated, read_anew;
  std::vector<sql::Oid> ended;

  RowState& row(const PublishedTablePtr& table, std::string key) {
    const auto [found, is_first] = places_.try_emplace(key, rows_.size());
    if (is_first) {
      RowState& row = rows_.emplace_back();
      row.table = table;
      row.member = table->member_of(key);
      row.key = std::move(key);
      row.image = StreamRow(table, {});
    }
    return rows_[found->second];
  }
  void join(const PublishedTablePtr& table, const std::string& member) {
    RowState& of_member = row(table, table->row_of(member));
    of_member.member = member;
    of_member.is_new = true;
  }
  void leave(const PublishedTablePtr& table, const std::string& member) {
    RowState& of_member = row(table, table->row_of(member));
    of_member.member = member;
    of_member.was_removed = true;
  }
  static void remove(RowState& row) {
    row.was_removed = true;
    row.is_new = row.is_touched = row.is_unknown = false;
    row.image = StreamRow(row.table, {});
  }
  void forget_rows() { rows_.clear(), places_.clear(); }
  std::vector<TableChange> changes() const;

 private:
  void add_rest(const RowState& row, std::vector<TableChange>& changes) const;

  std::vector<RowState> rows_;
  std::unordered_map<std::string, std::size_t> places_;
};

void StreamDecoder::Unit::add_rest(const RowState& row, std::vector<TableChange>& changes) const {
  StreamRow image = row.image;
  image.name(*row.member);
  if (row.is_unknown || (row.is_new && !row.is_touched)) {
    changes.push_back(image.removal());
    changes.back().kind = Kind::kReadRow;
  } else if (row.is_touched) {
    const bool is_whole = row.is_new || row.was_removed;
    changes.push_back(is_whole ? std::move(image).insertion() : std::move(image).update());
  }
}

std::vector<TableChange> StreamDecoder::Unit::changes() const {
  std::vector<TableChange> changes;
  std::set<sql::Oid> whole;
  for (const PublishedTablePtr& table : truncated) {
    if (!whole.insert(table->definition().oid).second) continue;
    changes.push_back({.kind = Kind::kTruncate, .table = table, .member = {}, .values = {}});
  }
  std::set<sql::Oid> anew;
  for (const PublishedTablePtr& table : read_anew) {
    if (!anew.insert(table->definition().oid).second) continue;
    if (!whole.contains(table->definition().oid)) changes.push_back({.kind = Kind::kTruncate, .table = table, .member = {}, .values = {}});
    changes.push_back({.kind = Kind::kReadTable, .table = table, .member = {}, .values = {}});
  }
  // Rows that go make room for keys and unique values of others.
  for (const RowState& row : rows_) {
    const sql::Oid oid = row.table->definition().oid;
    if (!row.was_removed || whole.contains(oid) || anew.contains(oid)) continue;
    if (!row.member) throw lost_changes("A key of more than 512 bytes was removed.");
    changes.push_back(StreamRow(row.table, *row.member).removal());
  }
  for (const RowState& row : rows_) {
    if (anew.contains(row.table->definition().oid)) continue;
    if (!row.member) throw lost_changes("A row with a key of more than 512 bytes has changed.");
    add_rest(row, changes);
  }
  return changes;
}

StreamDecoder::StreamDecoder(int database, State state, std::vector<std::string> publications)
    : database_(database), state_(std::move(state)), publications_(std::move(publications)) {}

const PublishedCatalog& StreamDecoder::catalog() {
  if (!catalog_) {
    catalog_ = std::make_unique<PublishedCatalog>(*state_.definitions, publications_, last_catalog_.get());
    last_catalog_.reset();
  }
  return *catalog_;
}

void StreamDecoder::forget_catalog() {
  if (catalog_) last_catalog_ = std::move(catalog_);
}

std::optional<StreamTransaction> StreamDecoder::feed(const StreamCommand& command) {
  const std::string name = upper_case(command.words[0]);
  if (name == "SELECT" && command.words.size() > 1) {
    state_.database = number_of(command.words[1]);
    return std::nullopt;
  }
  if (is_without_keys(name)) return std::nullopt;
  if (name == "MULTI") {
    in_block_ = true;
    block_start_ = command.start;
    block_.clear();
    return std::nullopt;
  }
  if (name == "EXEC") {
    in_block_ = false;
    const std::vector<Command> block = std::exchange(block_, {});
    return decode(block, block_start_, command.end);
  }
  Command copy{state_.database, {command.words.begin(), command.words.end()}};
  copy.words[0] = name;
  if (in_block_) {
    block_.push_back(std::move(copy));
    return std::nullopt;
  }
  std::vector<Command> block;
  block.push_back(std::move(copy));
  return decode(block, command.start, command.end);
}

void StreamDecoder::take_definitions(const Command& command, Unit& unit) {
  auto definitions = std::make_shared<StoredDefinitions>(*state_.definitions);
  const bool sets = command.words[0] == "HSET";
  bool has_changed = false;
  for (std::size_t index = 2; index < command.words.size(); index += sets ? 2 : 1) {
    const std::string& field = command.words[index];
    if (!is_published_definition(field)) continue;
    has_changed = true;
    if (!sets) definitions->erase(field);
    else if (index + 1 < command.words.size()) definitions->insert_or_assign(field, command.words[index + 1]);
  }
  if (!has_changed) return;
  std::map<sql::Oid, std::string> prefixes;
  for (const auto& [oid, table] : catalog().tables()) prefixes.emplace(oid, table->definition().prefix);
  state_.definitions = std::move(definitions);
  forget_catalog();
  for (const auto& [oid, table] : catalog().tables()) {
    const auto before = prefixes.find(oid);
    // The rows lie at another place: they have been written there before this.
    if (before != prefixes.end() && before->second != table->definition().prefix) unit.read_anew.push_back(table);
  }
  std::erase_if(open_units_, [&](const auto& entry) { return !this->catalog().find(entry.first); });
}

std::optional<StreamTransaction> StreamDecoder::decode(const std::vector<Command>& block, std::uint64_t start, std::uint64_t end) {
  Unit unit;
  const auto set = [](RowState& row, const std::string& field, std::optional<std::string> value) {
    row.is_touched = true;
    row.image.set(field, std::move(value));
  };
  for (const Command& command : block) {
    const Words& words = command.words;
    const std::string& name = words[0];
    const bool swaps = name == "SWAPDB" && words.size() > 2 && (number_of(words[1]) == database_ || number_of(words[2]) == database_);
    if (swaps) throw lost_changes("SWAPDB has exchanged the logical database.");
    if (name == "FLUSHALL" || (name == "FLUSHDB" && command.database == database_)) {
      unit.forget_rows();
      for (const auto& [oid, table] : catalog().tables()) unit.truncated.push_back(table);
      continue;
    }
    if (command.database != database_ || words.size() < 2) continue;
    const std::string& first = words[1];
    if (first == sql::kCatalogKey && (name == "HSET" || name == "HDEL")) {
      take_definitions(command, unit);
      continue;
    }
    if (first == sql::kExclusiveKey && (name == "HSET" || name == "HDEL")) {
      for (std::size_t index = 2; index < words.size(); index += name == "HSET" ? 2 : 1) {
        const sql::Oid oid = oid_of(words[index]).value_or(0);
        if (!catalog().find(oid)) continue;
        if (name == "HSET") open_units_.try_emplace(oid);
        else unit.ended.push_back(oid);
      }
      continue;
    }
    if (first.starts_with(sql::kChangesPrefix)) {
      const sql::Oid oid = oid_of(std::string_view(first).substr(sql::kChangesPrefix.size())).value_or(0);
      if (name == "INCR" && catalog().find(oid)) ++state_.counts[oid];
      continue;
    }
    if (first.starts_with(sql::kOwnPrefix)) continue;
    for (const std::string& key : keys_of(name, words)) {
      const PublishedTablePtr table = catalog().table_of_key(key);
      if (!table) continue;
      const std::string_view rest = std::string_view(key).substr(table->definition().prefix.size() + 1);
      if (rest == "zset") {
        if (name == "ZADD") {
          std::size_t at = 2;
          while (at < words.size() && is_one_of(upper_case(words[at]), {"NX", "XX", "GT", "LT", "CH", "INCR"})) ++at;
          for (++at; at < words.size(); at += 2) unit.join(table, words[at]);
        } else if (name == "ZREM") {
          for (std::size_t at = 2; at < words.size(); ++at) unit.leave(table, words[at]);
        } else if (removes_keys(name)) {
          unit.truncated.push_back(table);
        }
        continue;
      }
      if (is_structure(rest)) continue;
      RowState& row = unit.row(table, key);
      if (removes_keys(name)) {
        Unit::remove(row);
      } else if (name == "HSET" || name == "HMSET") {
        for (std::size_t at = 2; at + 1 < words.size(); at += 2) set(row, words[at], words[at + 1]);
      } else if (name == "HDEL") {
        for (std::size_t at = 2; at < words.size(); ++at) set(row, words[at], std::nullopt);
      } else if (name == "HINCRBY" && words.size() > 2) {
        row.is_touched = true;
        row.image.set_unread(words[2]);
      } else if (!changes_expiry_alone(name)) {
        row.is_unknown = true;
      }
    }
  }
  std::vector<TableChange> made = unit.changes();
  StreamTransaction transaction{.start = start, .end = end, .changes = {}};
  // The rest of a unit comes with the block that ends it.
  std::vector<TableChange> others;
  for (TableChange& change : made) {
    const auto open = open_units_.find(change.table->definition().oid);
    if (open != open_units_.end()) open->second.push_back(std::move(change));
    else others.push_back(std::move(change));
  }
  for (const sql::Oid oid : unit.ended) {
    const auto open = open_units_.find(oid);
    if (open == open_units_.end()) continue;
    std::ranges::move(open->second, std::back_inserter(transaction.changes));
    open_units_.erase(open);
  }
  std::ranges::move(others, std::back_inserter(transaction.changes));
  if (transaction.changes.empty()) return std::nullopt;
  return transaction;
}

}  // namespace redquel::executor
