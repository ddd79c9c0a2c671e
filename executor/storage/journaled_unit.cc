#include "executor/storage/journaled_unit.h"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include "executor/redis/unreplicated_commits.h"
#include "executor/runtime/lease_keeper.h"
#include "executor/runtime/random_version.h"
#include "executor/storage/journal.h"
#include "executor/storage/units_in_flight.h"
#include "executor/storage/write_conflict.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// A commit whose answer got lost is asked for again so often: it is the same, however often it arrives.
constexpr int kCommitAttempts = 10;

using Clock = std::chrono::steady_clock;

sql::SqlError lost_tables() {
  return sql::SqlError(sqlstate::kSerializationFailure, "could not serialize access: the statement's exclusive hold of its tables has expired");
}

sql::SqlError unknown_outcome() {
  return sql::SqlError(sqlstate::kTransactionResolutionUnknown, "connection to Redis lost while the statement ended: its outcome is unknown");
}

}  // namespace

struct JournaledUnit::State : std::enable_shared_from_this<JournaledUnit::State> {
  State(asio::any_io_executor on, RedisClient& redis, int of)
      : executor(std::move(on)),
        client(redis),
        database(of),
        unit(random_version()),
        chunks(executor, redis, [this](const WriteUnit& chunk, WriteStatus status) { check(chunk, status); }) {}

  asio::any_io_executor executor;
  RedisClient& client;
  const int database;  // the logical one
  const std::string unit;
  std::vector<TablePtr> definitions;
  std::vector<PlacedTable> tables;  // the same
  bool active = false;
  std::uint64_t generation = 0;  // of Redis: after a restart chunks may be lost
  Clock::time_point begun;
  std::vector<std::unique_ptr<KeptLease>> leases;  // in each bucket
  UnitsInFlight chunks;

  void keep_leases() {
    for (const auto& [bucket, own] : by_bucket(tables)) leases.push_back(keep_exclusive(database, unit, unit, own.front()));
  }

  /// Returns the last moment in which the unit surely had its tables.
  Clock::time_point last_sign() const {
    if (leases.empty() || !leases.front()) return begun;
    Clock::time_point oldest = Clock::time_point::max();
    for (const auto& lease : leases) oldest = std::min(oldest, lease->renewed());
    return std::max(begun, oldest);
  }

  void check(const WriteUnit& chunk, WriteStatus status) const {
    if (status == WriteStatus::kStale || client.generation() != generation) throw lost_tables();
    if (status == WriteStatus::kConflict) throw WriteConflict{};
    if (status == WriteStatus::kLocked) throw LockedByOther{chunk.blocker()};
    if (status == WriteStatus::kLostLock) {
      throw sql::SqlError(sqlstate::kSerializationFailure, "could not serialize access: a lock was lost");
    }
  }

  void stop() {
    active = false;
    leases.clear();
  }

  static asio::awaitable<void> undo(std::shared_ptr<State> self) {
    co_await self->chunks.settle();
    if (!self->active) co_return;
    for (const auto& [bucket, tables] : by_bucket(self->tables)) {
      const bool owned = co_await undo_journal(self->client, tables.front(), self->unit, self->unit);
      if (owned) co_await end_exclusive(self->client, self->unit, self->unit, tables);
    }
    self->stop();
  }

  asio::awaitable<void> commit_over_buckets() {
    // A replica that is promoted while the commit is prepared must have all chunks.
    if (UnreplicatedCommits* const commits = client.unreplicated()) co_await commits->all_confirmed();
    if (client.generation() != generation) throw lost_tables();
    bool owned = false;
    std::exception_ptr failure;
    try {
      owned = co_await commit_exclusive(client, unit, definitions);
    } catch (const sql::SqlError& error) {
      // The chunks stay: another process completes the commit, or undoes them once the lease is over.
      if (error.sqlstate() == sqlstate::kTransactionResolutionUnknown) stop();
      failure = std::current_exception();
    }
    if (failure) std::rethrow_exception(failure);
    if (!owned) throw lost_tables();
    stop();
  }

  /// No caller waits for this one.
  static asio::awaitable<void> undo_alone(std::shared_ptr<State> self) {
    try {
      co_await undo(self);
    } catch (const std::exception& error) {
      spdlog::warn("an unfinished statement stays to be undone when its lease is over: {}", error.what());
    }
    self->stop();
  }
};

JournaledUnit::JournaledUnit(asio::any_io_executor executor, RedisClient& client, int database)
    : state_(std::make_shared<State>(std::move(executor), client, database)) {}

JournaledUnit::~JournaledUnit() {
  if (state_->active) asio::co_spawn(state_->executor, State::undo_alone(state_), asio::detached);
}

const std::string& JournaledUnit::token() const { return state_->unit; }

JournalStep JournaledUnit::step(std::string_view tag) const { return {JournalStep::Kind::kDo, state_->unit, journal_key(tag, state_->unit)}; }

asio::awaitable<bool> JournaledUnit::begin(std::vector<TablePtr> tables, LockDeadline deadline) {
  for (const TablePtr& table : tables) state_->tables.emplace_back(*table);
  state_->definitions = tables;
  Clock::time_point began;
  while (true) {
    began = Clock::now();
    BeginResult result;
    try {
      result = co_await begin_exclusive(state_->client, state_->unit, tables);
    } catch (...) {
      state_->active = true;  // the unit may have the tables, and gives them back when it is destroyed
      throw;
    }
    if (result == BeginResult::kStale) co_return false;
    if (result == BeginResult::kBegun) break;
    std::vector<PlacedTable> waited_for = state_->tables;
    co_await wait_while_exclusive(state_->client, std::move(waited_for), deadline);
  }
  state_->active = true;
  state_->begun = began;
  state_->generation = state_->client.generation();
  state_->keep_leases();
  co_return true;
}

asio::awaitable<void> JournaledUnit::write(std::shared_ptr<WriteUnit> unit, UnitsInFlight::Written applied) {
  return state_->chunks.write(std::move(unit), std::move(applied));
}

asio::awaitable<void> JournaledUnit::flush() { return state_->chunks.flush(); }

asio::awaitable<void> JournaledUnit::commit() {
  co_await flush();
  if (by_bucket(state_->tables).size() > 1) co_return co_await state_->commit_over_buckets();
  if (state_->client.generation() != state_->generation) throw lost_tables();
  bool owned = false, answered = false;
  int attempts = 0;
  while (!answered) {
    std::exception_ptr lost;
    try {
      owned = co_await end_exclusive(state_->client, state_->unit, state_->unit, state_->tables);
      answered = true;
    } catch (const sql::SqlError& error) {
      if (error.sqlstate() != sqlstate::kConnectionFailure) throw;
      lost = std::current_exception();
    }
    if (!lost) continue;
    if (++attempts == kCommitAttempts) std::rethrow_exception(lost);
    std::vector<std::string> tags{std::string(state_->tables.front().tag())};
    const ExclusiveTables now = co_await load_exclusive_tables(state_->client, std::move(tags));
    if (state_->client.generation() == state_->generation) continue;
    const auto ours = now.find(state_->tables.front().oid());
    if (ours != now.end() && ours->second.unit == state_->unit) std::rethrow_exception(lost);  // not done: it is undone
    state_->stop();
    throw unknown_outcome();
  }
  const Clock::time_point last_sign = state_->last_sign();
  state_->stop();
  if (owned) co_return;
  if (attempts == 0) throw lost_tables();
  // An earlier attempt did it, unless the tables were lost: that takes longer than the lease.
  if (Clock::now() - last_sign < std::chrono::milliseconds(kExclusiveLeaseMilliseconds)) co_return;
  throw unknown_outcome();
}

asio::awaitable<void> JournaledUnit::undo() { return State::undo(state_); }

}  // namespace redquel::executor
