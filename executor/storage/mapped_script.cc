#include "executor/storage/mapped_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/redis/command_keys.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// One script holds Redis while it runs: a command takes about a microsecond.
constexpr std::size_t kMaxCommands = 40'000;

}  // namespace

void MappedWriteCall::select(int database) { selected_ = database; }

void MappedWriteCall::note_place(const Words& words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  const CommandKeys keys = keys_of(views);
  for (std::size_t i = 0; i < keys.count; ++i) {
    const std::string& key = words[keys.first + i * keys.step];
    const int slot = sql::slot_of(key);
    if (!place_) place_ = Place{slot, key};
    if (place_->slot == slot) continue;
    throw sql::SqlError(sqlstate::kFeatureNotSupported, fmt::format("keys \"{}\" and \"{}\" lie in different slots of the cluster", place_->key, key))
        .detail("The rows and structures of foreign tables that a statement or transaction writes must lie in one slot.")
        .hint("Keys with the same text between { and } lie in one slot.");
  }
}

void MappedWriteCall::append(List& list, const Words& words) {
  if (sql::uses_cluster()) note_place(words);
  if (++command_count_ > kMaxCommands) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded,
                        fmt::format("the changes of foreign tables need more than {} Redis commands", kMaxCommands))
        .hint("They are one atomic unit in Redis, which waits meanwhile. Change fewer rows at a time.");
  }
  if (list.database != selected_) {
    list.database = selected_;
    const bool is_check = &list == &checks_;
    const std::string number = std::to_string(selected_);
    if (is_check) append_check({"SELECT", number}, "v", "OK");
    else append(list, {"SELECT", number});
  }
  list.words.push_back(std::to_string(words.size()));
  list.words.insert(list.words.end(), words.begin(), words.end());
}

void MappedWriteCall::append_check(const Words& words, std::string_view letter, std::string_view expected) {
  append(checks_, words);
  checks_.words.emplace_back(letter);
  checks_.words.emplace_back(expected);
  ++check_count_;
}

void MappedWriteCall::expect(const Words& command, std::string text) { append_check(command, "v", text); }
void MappedWriteCall::expect_fields(const std::string& key, std::span<const Words> reads, std::span<const std::optional<std::string>> texts) {
  Words command{"HMGET", key};
  std::string packed;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    command.push_back(reads[i][2]);
    packed += texts[i] ? fmt::format("+{}:{}", texts[i]->size(), *texts[i]) : "-";
  }
  append_check(command, "m", packed);
}
void MappedWriteCall::expect_nil(const Words& command) { append_check(command, "n", ""); }
void MappedWriteCall::expect_type(const std::string& key, std::string_view type) {
  if (types_.emplace(Name(selected_, key), std::string(type)).second) append_check({"TYPE", key}, "t", type);
}
void MappedWriteCall::add_entry(const std::string& key, const std::string& id) {
  if (id == "*") {  // of now: what follows cannot name an id
    entries_[Name(selected_, key)] = "999999999999999-*";
    return;
  }
  const auto value_of = [](const std::string& text) {
    const std::size_t dash = text.find('-');
    const bool is_open = text.ends_with('*');
    return std::pair(std::stoll(text.substr(0, dash)), is_open ? INT64_MAX : std::stoll(text.substr(dash + 1)));
  };
  const auto [last, is_first] = entries_.emplace(Name(selected_, key), id);
  if (is_first) {
    append_check({"XINFO", "STREAM", key}, "s", id);
  } else if (value_of(id) < value_of(last->second) || (id == last->second && !id.ends_with('*'))) {
    throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("id \"{}\" is not greater than the last one of stream \"{}\"", id, key));
  }
  last->second = id;
}
void MappedWriteCall::command(const Words& words) { append(commands_, words); }
void MappedWriteCall::early_command(const Words& words) { append(early_commands_, words); }
void MappedWriteCall::last_command(const Words& words) { append(last_commands_, words); }
void MappedWriteCall::expire(const std::string& key, std::optional<std::int64_t> seconds) {
  const auto [known, is_new] = expiries_.emplace(Name(selected_, key), seconds);
  if (!is_new && known->second != seconds) {
    throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("rows of one key \"{}\" cannot have different times to live", key));
  }
  if (is_new) last_command(seconds ? Words{"EXPIRE", key, std::to_string(*seconds)} : Words{"PERSIST", key});
}
void MappedWriteCall::respect_lock(sql::Oid table, const std::string& row, LockMode mode) {
  LockMode& wanted = locks_[table].try_emplace(row_lock_field(row), mode).first->second;
  wanted = std::max(wanted, mode);
}
std::string unkept_key(sql::Oid table) { return sql::home_key(sql::kUnkeptPrefix) + std::to_string(table); }

void MappedWriteCall::note_unkept(sql::Oid table, const std::string& row) { noted_.emplace_back(table, row); }
void MappedWriteCall::forget_unkept(sql::Oid table, const std::string& row) { forgotten_.emplace_back(table, row); }
void MappedWriteCall::forget_indices(const std::string& noted_keys, const std::string& member) { command({"@indices", noted_keys, member}); }
void MappedWriteCall::forget_uniques(const std::string& noted_values) { command({"@uniques", noted_values}); }

void MappedWriteCall::append_locks(std::vector<std::string>& arguments) const {
  arguments.push_back(std::to_string(locks_.size()));
  for (const auto& [table, rows] : locks_) {
    arguments.push_back(lock_key(home_table(table)));
    arguments.push_back(std::to_string(rows.size()));
    for (const auto& [field, mode] : rows) arguments.push_back(std::to_string(static_cast<int>(mode)) + field);
  }
}

void MappedWriteCall::append_lists(std::vector<std::string>& arguments) {
  for (const List* list : {&checks_, &early_commands_, &commands_, &last_commands_}) {
    arguments.insert(arguments.end(), list->words.begin(), list->words.end());
  }
}

std::vector<std::string> MappedWriteCall::arguments() const {
  MappedWriteCall ended = *this;
  ended.selected_ = home_;
  for (const auto& [table, row] : noted_) ended.command({"SADD", unkept_key(table), row});
  for (const auto& [table, row] : forgotten_) ended.command({"SREM", unkept_key(table), row});
  // Each list ends where the next one begins, and a script of redquel's own tables in between.
  if (ended.checks_.database != home_) ended.append_check({"TYPE", sql::home_key(sql::kVersionKey)}, "t", "string");
  if (ended.early_commands_.database != home_) ended.append(ended.early_commands_, {"PING"});
  if (ended.commands_.database != home_) ended.append(ended.commands_, {"PING"});
  std::vector<std::string> all{version_, std::to_string(ended.check_count_), token_};
  append_locks(all);
  ended.append_lists(all);
  return all;
}

std::vector<std::string> MappedWriteCall::watched_keys() const {
  std::vector<std::string> keys{sql::home_key(sql::kVersionKey), sql::home_key(sql::kVersionsKey)};
  for (const auto& [table, rows] : locks_) keys.push_back(lock_key(home_table(table)));
  return keys;
}

std::vector<std::string> MappedWriteCall::guard_arguments() const {
  std::vector<std::string> all{version_, "0", token_};
  append_locks(all);
  for (const auto& [table, row] : noted_) {
    all.push_back(unkept_key(table));
    all.push_back(row);
  }
  return all;
}

std::vector<std::string> MappedWriteCall::user_arguments() const {
  MappedWriteCall ended = *this;
  ended.selected_ = home_;
  if (ended.checks_.database != home_) ended.append_check({"SELECT", std::to_string(home_)}, "v", "OK");
  if (ended.early_commands_.database != home_) ended.append(ended.early_commands_, {"PING"});
  if (ended.commands_.database != home_) ended.append(ended.commands_, {"PING"});
  std::vector<std::string> all{"", std::to_string(ended.check_count_), "", "0"};
  ended.append_lists(all);
  return all;
}

void MappedWriteCall::append_sequel(CommandBatch& batch) const {
  for (const auto& [table, row] : forgotten_) batch.add("SREM", unkept_key(table), row);
}

}  // namespace redquel::executor
