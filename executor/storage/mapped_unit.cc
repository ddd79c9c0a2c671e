#include "executor/storage/mapped_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "executor/redis/redis_error.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/mapped_row.h"
#include "executor/storage/mapped_script.h"
#include "executor/storage/write_program.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/slot_tags.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

/// One script holds Redis while it runs: about a tenth of a second.
constexpr std::size_t kMaxRows = 10'000;

bool may_repeat(const sql::TableDef& table) {
  const sql::Mapping::Layout layout = table.mapping().layout;
  return layout == sql::Mapping::Layout::kList || layout == sql::Mapping::Layout::kStream;
}

}  // namespace

std::string mapped_identity(const sql::TableDef& table, std::span<const sql::Datum> row) {
  std::string identity;
  for (const std::int16_t column : table.primary_key) {
    const std::size_t position = table.position(column);
    const std::string text = sql::is_null(row[position]) ? "" : sql::format_value(table.columns[position].type, row[position]);
    identity += fmt::format("{}:{}", text.size(), text);
  }
  return identity;
}

std::optional<std::map<std::int16_t, sql::Datum>> values_of_identity(const sql::TableDef& table, std::string_view identity) {
  std::map<std::int16_t, sql::Datum> values;
  try {
    for (const std::int16_t column : table.primary_key) {
      std::size_t size = 0;
      const auto [end, error] = std::from_chars(identity.data(), identity.data() + identity.size(), size);
      if (error != std::errc() || end == identity.data() + identity.size() || *end != ':') return std::nullopt;
      identity.remove_prefix(static_cast<std::size_t>(end - identity.data()) + 1);
      if (size > identity.size()) return std::nullopt;
      values[column] = sql::parse_value(table.find_column(column)->type, identity.substr(0, size), sql::SessionSettings{});
      identity.remove_prefix(size);
    }
  } catch (const sql::SqlError&) {
    return std::nullopt;
  }
  return identity.empty() ? std::optional(std::move(values)) : std::nullopt;
}

LockMode MappedUnit::lock_of(const MappedChange& change) const {
  const bool keeps_key = change.after && mapped_identity(*table_, *change.before) == mapped_identity(*table_, *change.after);
  return keeps_key ? LockMode::kNoKeyUpdate : LockMode::kUpdate;
}

MappedUnit::MappedUnit(std::shared_ptr<const sql::TableDef> table) : table_(std::move(table)) {}
MappedUnit::~MappedUnit() = default;

bool MappedUnit::add(MappedChange change) {
  if (change.before && !changed_.insert(mapped_identity(*table_, *change.before)).second) return false;
  if (changes_.size() >= kMaxRows) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, fmt::format("statement changes more than {} rows of a foreign table", kMaxRows))
        .hint("A statement is one atomic unit in Redis. Split it.");
  }
  changes_.push_back(std::move(change));
  return true;
}

void MappedUnit::set_unread(std::size_t change, std::size_t position, const sql::Datum& value) {
  for (auto* row : {&changes_[change].before, &changes_[change].after}) {
    if (*row) (**row)[position] = value;
  }
}

asio::awaitable<bool> MappedUnit::read(RedisClient& redis, bool bad_values_are_null, ExecutionCounters* counters, const MappedLookups& before) {
  CommandBatch reads;
  std::set<std::string> inserted;
  MappedLookups lookups = before;
  rows_.clear();
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const MappedChange& change = changes_[i];
    rows_.push_back(nullptr);
    if (skipped_.contains(i)) continue;
    const bool is_new = change.after && !change.before && !table_->primary_key.empty() && !may_repeat(*table_);
    if (is_new && !inserted.insert(mapped_identity(*table_, *change.after)).second) {
      if (!change.conflict.skip) {
        throw sql::SqlError(sqlstate::kUniqueViolation, fmt::format("duplicate key value violates unique constraint \"{}_key\"", table_->name))
            .detail("Two new rows have the same key.");
      }
      skipped_.insert(i);
      continue;
    }
    rows_.back() = std::make_unique<MappedRow>(*table_, change);
    rows_.back()->append_reads(reads);
    rows_.back()->add_released(lookups);
  }
  RepliesPtr replies = co_await redis.execute(std::move(reads), counters);
  std::size_t first = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i]) continue;
    const std::span<const Reply> own = replies->all().subspan(first, rows_[i]->read_count());
    first += own.size();
    switch (rows_[i]->take_reads(own, bad_values_are_null, lookups)) {
      case MappedRow::Found::kAsRead: break;
      case MappedRow::Found::kChanged: co_return false;
      case MappedRow::Found::kTaken: {
        const InsertConflict& conflict = changes_[i].conflict;
        const bool is_expected = !conflict.columns || rows_[i]->violates_key();
        if (conflict.run_again && is_expected) co_return false;
        if (!conflict.skip || !is_expected) throw rows_[i]->violation();
        skipped_.insert(i);
        rows_[i] = nullptr;
        break;
      }
    }
  }
  co_return true;
}

void MappedUnit::append_writes(MappedWriteCall& call, int database) const {
  call.select(database);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i]) continue;
    rows_[i]->append_writes(call);
    if (changes_[i].before && !table_->primary_key.empty()) {
      call.respect_lock(table_->oid, mapped_identity(*table_, *changes_[i].before), lock_of(changes_[i]));
    }
  }
}

namespace {

asio::awaitable<MappedWriteResult> write_in(std::string tag, RedisClient& redis, WriteProgram program, ExecutionCounters* counters) {
  const RepliesPtr written = co_await run_program(redis, kWriteScript, program, tag, counters);
  const std::span<const Reply> answer = written->array(0);
  const bool is_applied = !answer.empty() && answer[0].text == "applied";
  if (!is_applied) co_return stopped_mapped_write(program, answer);
  co_return MappedWriteResult{WriteStatus::kApplied, {}};
}

/// The rows lie in one slot of a cluster. The version, the locks, and the notes of rows that structures may lack are in the home bucket.
asio::awaitable<MappedWriteResult> write_in_slot(RedisClient& redis, MappedWriteCall call, ExecutionCounters* counters) {
  std::string tag(sql::home_tag());
  const MappedWriteResult guarded = co_await write_in(std::move(tag), redis, call.guard(), counters);
  if (guarded.status != WriteStatus::kApplied) co_return guarded;
  if (call.place()) {
    tag = sql::slot_tag(call.place()->slot);
    const MappedWriteResult written = co_await write_in(std::move(tag), redis, call.guarded(false), counters);
    if (written.status != WriteStatus::kApplied) co_return written;
  }
  CommandBatch sequel;
  call.append_sequel(sequel);
  co_await redis.execute(std::move(sequel), counters);
  co_return MappedWriteResult{WriteStatus::kApplied, {}};
}

}  // namespace

asio::awaitable<MappedWriteResult> write_mapped(RedisClient& redis, MappedWriteCall call, ExecutionCounters* counters) {
  if (call.empty()) co_return MappedWriteResult{WriteStatus::kApplied, {}};
  if (sql::uses_cluster()) co_return co_await write_in_slot(redis, std::move(call), counters);
  std::string no_tag;
  co_return co_await write_in(std::move(no_tag), redis, call.program(), counters);
}

namespace {

/// Redquel's own login decides whether the write may take place, then the user writes. Redis does neither if what the decision relies on
/// changes in between (WATCH), or the connection is not redquel's own login's (EXISTS is refused).
CommandBatch guarded_write(const RedisLogin& own, const RedisLogin& user, const MappedWriteCall& call, const WriteProgram& guard) {
  const std::vector<std::string> no_keys, watched = call.watched_keys();
  const WriteProgram written = call.guarded(true);
  CommandBatch batch;
  batch.add("AUTH", own.user.empty() ? std::string_view("default") : std::string_view(own.user), own.password);
  batch.add("WATCH", watched);
  // Its text and not EVALSHA: a guard that Redis does not know would refuse nothing.
  batch.add("EVAL", kGuardWriteScript.text(), "0", guard.words());
  batch.add("MULTI");
  batch.add("EXISTS", sql::home_key(sql::kVersionKey));
  batch.add("AUTH", user.user, user.password);
  kWriteScript.append_call(batch, no_keys, written.words());
  batch.add("EXEC");
  return batch;
}
constexpr std::size_t kGuardReply = 2, kExecReply = 7, kAuthResult = 1, kWriteResult = 2;

/// Locks of other rows change what is watched, too.
constexpr int kGuardedAttempts = 20;

}  // namespace

asio::awaitable<MappedWriteResult> write_mapped_as(RedisUserPtr user, int database, MappedWriteCall call, ExecutionCounters* counters) {
  if (call.empty()) co_return MappedWriteResult{WriteStatus::kApplied, {}};
  RedisAccess& own = user->own();
  RedisLogins& logins = logins_of(own);
  for (int attempt = 0; attempt < kGuardedAttempts; ++attempt) {
    const WriteProgram program = call.guard();
    CommandBatch batch = guarded_write(logins.own_login(), user->login(), call, program);
    const RepliesPtr replies = co_await logins.switching(database).execute(std::move(batch), counters);
    replies->checked(0);
    const std::span<const Reply> guard = replies->array(kGuardReply);
    if (guard.empty() || guard[0].text != "applied") co_return stopped_mapped_write(program, guard);
    const Reply& result = replies->checked(kExecReply);
    if (result.is_nil()) continue;
    const std::span<const Reply> results = result.children();
    if (results.size() != kWriteResult + 1) throw unexpected_reply("EXEC", "one reply per command");
    if (results[kAuthResult].is_error()) throw login_refused(results[kAuthResult].text);
    const Reply& written = results[kWriteResult];
    if (written.is_error() && written.text.starts_with("NOSCRIPT")) {
      CommandBatch load;
      load.add("SCRIPT", "LOAD", kWriteScript.text());
      const RepliesPtr loaded = co_await own.shared(database).execute(std::move(load), counters);
      loaded->or_throw();
      continue;
    }
    if (written.is_error()) throw redis_error(written.text, kWriteScript.command());
    const std::span<const Reply> answer = written.children();
    if (!answer.empty() && answer[0].text == "own") {
      std::string no_tag;
      co_return co_await write_in(std::move(no_tag), user->shared(database), call.program(true), counters);
    }
    if (answer.empty() || answer[0].text != "applied") co_return stopped_mapped_write(call.guarded(true), answer);
    CommandBatch sequel;
    call.append_sequel(sequel);
    co_await own.shared(database).execute(std::move(sequel), counters);
    co_return MappedWriteResult{WriteStatus::kApplied, {}};
  }
  co_return MappedWriteResult{WriteStatus::kConflict, {}};
}

MappedWriteResult stopped_mapped_write(const WriteProgram& program, std::span<const Reply> answer) {
  const ProgramStop stop = stop_of(program, answer);
  const std::span<const std::string_view> words = stop.step.words;
  const auto found = [&](std::size_t index) { return index < stop.found.size() ? stop.found[index] : std::string(); };
  std::string_view odd_key;
  switch (stop.step.kind) {
    case StepKind::kCatalog: return {WriteStatus::kStale, {}};
    case StepKind::kLease: return {WriteStatus::kLostLock, {}};
    case StepKind::kRespect: return {WriteStatus::kLocked, {found(0), std::string(words[0]), found(1)}};
    case StepKind::kStream:
      throw sql::SqlError(sqlstate::kInvalidParameterValue,
                          fmt::format("id \"{}\" is not greater than the last one of stream \"{}\"", words[1], words[0]))
          .hint("Nothing was written.");
    case StepKind::kKind: odd_key = words[0]; break;
    case StepKind::kFields: if (!found(0).empty()) odd_key = words[0]; break;
    case StepKind::kReply: if (!found(0).empty()) odd_key = words[2]; break;
    case StepKind::kNothing: if (!found(0).empty()) odd_key = words[1]; break;
    default: break;
  }
  if (odd_key.empty()) return {WriteStatus::kConflict, {}};
  throw sql::SqlError(sqlstate::kDataCorrupted, fmt::format("key \"{}\" is of another Redis type than its foreign table needs", odd_key))
      .hint("Nothing was written.");
}

}  // namespace redquel::executor
