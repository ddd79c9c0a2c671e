#include "executor/storage/mapped_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/redis/command_keys.h"
#include "executor/storage/write_program.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// One script holds Redis while it runs: a command takes about a microsecond.
constexpr std::size_t kMaxCommands = 40'000;
/// The fields of one step: Lua's stack holds about 8,000 values.
constexpr std::size_t kLocksOfStep = 1000;

}  // namespace

void MappedWriteCall::select(int database) { selected_ = database; }

void MappedWriteCall::note_place(const Words& words) {
  if (!sql::uses_cluster()) return;
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

void MappedWriteCall::append(Steps& steps, StepKind kind, Words words, Words list) {
  if (++count_ > kMaxCommands) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded,
                        fmt::format("the changes of foreign tables need more than {} Redis commands", kMaxCommands))
        .hint("They are one atomic unit in Redis, which waits meanwhile. Change fewer rows at a time.");
  }
  steps.push_back({kind, std::move(words), std::move(list), selected_});
}

void MappedWriteCall::expect(const Words& command, std::string text) {
  note_place(command);
  append(checks_, StepKind::kReply, {std::move(text)}, command);
}
void MappedWriteCall::expect_fields(const std::string& key, std::span<const Words> reads, std::span<const std::optional<std::string>> texts) {
  note_place({"HMGET", key});
  Words names;
  std::string packed;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    names.push_back(reads[i][2]);
    packed += texts[i] ? fmt::format("+{}:{}", texts[i]->size(), *texts[i]) : "-";
  }
  append(checks_, StepKind::kFields, {key, std::move(packed)}, std::move(names));
}
void MappedWriteCall::expect_nil(const Words& command) {
  note_place(command);
  append(checks_, StepKind::kNothing, {}, command);
}
void MappedWriteCall::expect_type(const std::string& key, std::string_view type) {
  note_place({"TYPE", key});
  if (types_.emplace(Name(selected_, key), std::string(type)).second) append(checks_, StepKind::kKind, {key, std::string(type)}, {});
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
    note_place({"XINFO", "STREAM", key});
    append(checks_, StepKind::kStream, {key, id}, {});
  } else if (value_of(id) < value_of(last->second) || (id == last->second && !id.ends_with('*'))) {
    throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("id \"{}\" is not greater than the last one of stream \"{}\"", id, key));
  }
  last->second = id;
}
void MappedWriteCall::command(const Words& words) {
  note_place(words);
  append(commands_, StepKind::kRun, {}, words);
}
void MappedWriteCall::early_command(const Words& words) {
  note_place(words);
  append(early_commands_, StepKind::kRun, {}, words);
}
void MappedWriteCall::last_command(const Words& words) {
  note_place(words);
  append(last_commands_, StepKind::kRun, {}, words);
}
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
void MappedWriteCall::forget_indices(const std::string& noted_keys, const std::string& member) {
  append(commands_, StepKind::kForgetSets, {noted_keys, member}, {});
}
void MappedWriteCall::forget_uniques(const std::string& noted_values) { append(commands_, StepKind::kForgetFields, {noted_values}, {}); }

void MappedWriteCall::add_locks(WriteProgram& program) const {
  if (!token_.empty()) program.add(StepKind::kLease, {program.store(process_key(token_.substr(0, token_.find('.'))))});
  std::vector<std::string_view> fields;
  std::string modes;
  for (const auto& [table, rows] : locks_) {
    const std::string_view key = program.store(lock_key(home_table(table)));
    std::size_t left = rows.size();
    for (const auto& [field, mode] : rows) {
      fields.push_back(field);
      modes += std::to_string(static_cast<int>(mode));
      if (--left > 0 && fields.size() < kLocksOfStep) continue;
      program.add(StepKind::kRespect, {key, token_, program.store(modes)}, fields);
      fields.clear();
      modes.clear();
    }
  }
}

void MappedWriteCall::add_steps(WriteProgram& program, bool with_notes) const {
  int database = home_;
  bool has_moved = false;
  std::vector<std::string_view> words;
  const auto move = [&](StepKind kind, int to) {
    if (database == to) return;
    program.add(kind, {program.store(std::to_string(to))});
    database = to;
    has_moved = true;
  };
  const auto add = [&](const Steps& steps) {
    for (const Step& step : steps) {
      move(step_info(step.kind).phase == StepInfo::Phase::kGuard ? StepKind::kLookIn : StepKind::kWriteIn, step.database);
      words.assign(step.words.begin(), step.words.end());
      const std::vector<std::string_view> list(step.list.begin(), step.list.end());
      program.add(step.kind, words, list);
    }
  };
  add(checks_);
  // The effects begin where their checks have ended.
  const auto stays = [this](const Steps& steps) { return std::ranges::all_of(steps, [this](const Step& step) { return step.database == home_; }); };
  if (has_moved || !stays(early_commands_) || !stays(commands_) || !stays(last_commands_)) {
    database = home_ - 1;
    move(StepKind::kWriteIn, home_);
  }
  add(early_commands_);
  add(commands_);
  if (with_notes && (!noted_.empty() || !forgotten_.empty())) move(StepKind::kWriteIn, home_);
  for (const auto& [table, row] : with_notes ? noted_ : Notes()) program.add(StepKind::kMemberAdd, {program.store(unkept_key(table)), row});
  for (const auto& [table, row] : with_notes ? forgotten_ : Notes()) program.add(StepKind::kMemberRemove, {program.store(unkept_key(table)), row});
  add(last_commands_);
  move(StepKind::kWriteIn, home_);
}

WriteProgram MappedWriteCall::program(bool as_user) const {
  WriteProgram program;
  if (as_user) program.add(StepKind::kAsUser, {"0"});
  program.add(StepKind::kCatalog, {version_});
  add_locks(program);
  add_steps(program, true);
  return program;
}

WriteProgram MappedWriteCall::guard() const {
  WriteProgram program;
  program.add(StepKind::kCatalog, {version_});
  add_locks(program);
  for (const auto& [table, row] : noted_) program.add(StepKind::kMemberAdd, {program.store(unkept_key(table)), row});
  return program;
}

WriteProgram MappedWriteCall::guarded(bool as_user) const {
  WriteProgram program;
  if (as_user) program.add(StepKind::kAsUser, {"1"});
  add_steps(program, false);
  return program;
}

std::vector<std::string> MappedWriteCall::watched_keys() const {
  std::vector<std::string> keys{sql::home_key(sql::kVersionKey), sql::home_key(sql::kVersionsKey)};
  for (const auto& [table, rows] : locks_) keys.push_back(lock_key(home_table(table)));
  return keys;
}

void MappedWriteCall::append_sequel(CommandBatch& batch) const {
  for (const auto& [table, row] : forgotten_) batch.add("SREM", unkept_key(table), row);
}

}  // namespace redquel::executor
