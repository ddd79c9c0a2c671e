// Transactions of the engine's sessions.

#include <spdlog/spdlog.h>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "executor/ddl/structure_state.h"
#include "executor/ddl/transaction_rewrite.h"
#include "executor/engine/redis_engine.h"
#include "executor/roles/hidden_values.h"
#include "executor/runtime/clock.h"
#include "executor/runtime/failure.h"
#include "executor/transaction/advisory_locks.h"
#include "executor/transaction/commit.h"
#include "executor/transaction/set_constraints.h"
#include "executor/transaction/table_lock.h"
#include "executor/transaction/transaction_catalog.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

bool RedisEngine::end_untouched(SessionState& session) {
  const Transaction* const transaction = session.transaction.get();
  const bool is_untouched = transaction != nullptr && !transaction->has_changed() && transaction->locks().token.empty() &&
                            session.modes.isolation == IsolationLevel::kReadCommitted && !session.advisory_locks && session.temporary_schema.empty() &&
                            !(session.notifications && session.notifications->has_pending());
  if (is_untouched) session.transaction.reset();
  return is_untouched;
}

void RedisEngine::begin(SessionState& session) {
  session.transaction = begin_transaction();
  session.transaction_time = now_microseconds();
  session.has_queried = false;
  session.savepoints = 0;
}

std::shared_ptr<Transaction> RedisEngine::begin_transaction() const {
  return std::make_shared<Transaction>(shared_.generation());
}

asio::awaitable<void> RedisEngine::commit(SessionState& session) {
  const auto commit_all = [&]() -> asio::awaitable<void> {
    co_await notifications_.prepare(session);
    if (session.transaction->catalog() != nullptr) {
      DdlContext context{shared_, bulk_, session, home_, database_};
      context.lock_table = [this, &session](const sql::TableDef& table, TableLock mode) { return lock_table(session, *session.transaction, table, static_cast<std::int32_t>(mode)); };
      co_await move_large_changes(context, limits_.script_rows);
    }
    std::shared_ptr<Transaction> transaction = std::move(session.transaction);
    session.transaction.reset();
    co_await commit_transaction(std::move(transaction), session);
  };
  co_await run_or_undo(commit_all(), [&] { return roll_back(session); });
  co_await notifications_.commit(session);
}

asio::awaitable<void> RedisEngine::finish_statement(SessionState& session) {
  co_await confirm_statement(session);
  if (!session.notifications || !session.notifications->has_pending()) co_return;
  try {
    co_await notifications_.prepare(session);
  } catch (...) {
    session.notifications->forget();
    throw;
  }
  co_await notifications_.commit(session);
}

namespace {

/// Returns true for changes of foreign tables, without definitions.
bool writes_mapped(const Transaction& transaction) {
  const std::vector<TableChangesPtr> all = transaction.buffer().all_changes();
  return transaction.catalog() == nullptr && std::ranges::any_of(all, [](const TableChangesPtr& changes) { return changes->table->is_mapped(); });
}

std::vector<std::shared_ptr<const sql::TableDef>> tables_of(const Transaction& transaction) {
  std::vector<std::shared_ptr<const sql::TableDef>> tables;
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) tables.push_back(changes->table);
  return tables;
}

std::string sqlstate_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const sql::SqlError& error) {
    return std::string(error.sqlstate());
  } catch (...) {
    return {};
  }
}

}  // namespace

asio::awaitable<void> RedisEngine::commit_transaction(std::shared_ptr<Transaction> transaction, SessionState& session) {
  // A script that was sent will run: cancellation waits for its outcome.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  WriteOptions options;
  options.max_rows = std::numeric_limits<std::size_t>::max();
  options.settings = session.settings;
  if (session.notice && session.show && session.show("redquel.show_program") == "on") {
    options.show_program = [notice = session.notice](const WriteProgram& program) { notice("NOTICE", program_notice(program)); };
  }
  SentCommit commit{.token = commit_slots_.take(), .generation = shared_.generation(), .first_write = next_commit()};
  options.token = commit.token;
  std::exception_ptr failure;
  std::optional<sql::SqlError> lost;
  try {
    co_await check_advisory_transaction(session);
    sql::CatalogPtr definitions = co_await catalog(session);
    if (catalog_) apply_on_commit(session, *catalog_, *transaction);
    while (true) {
      const std::string version = definitions->version;
      if (transaction->catalog()) {
        definitions = transaction->catalog()->snapshot();
        session.known_types->types = definitions->user_types;  // of its rows
      }
      WriteOptions own = options;
      own.foreign_keys = std::make_shared<ForeignKeyChecks>(std::move(definitions), session.settings);
      const LockWaitLimits limits{session.lock_timeout, session.deadlock_timeout, session.backend_pid};
      MappedPlace place{access_, database_, version};
      const std::exception_ptr refusal = co_await failure_of(
          commit_changes(shared_, *transaction, std::move(own), limits_.script_rows, limits, random_, std::move(place), commit.trace));
      if (!refusal) break;
      // Changes of foreign tables are made under one version of all definitions. Those of other tables may have changed meanwhile.
      if (!writes_mapped(*transaction) || sqlstate_of(refusal) != sqlstate::kSerializationFailure) std::rethrow_exception(refusal);
      std::vector<std::shared_ptr<const sql::TableDef>> tables = tables_of(*transaction);
      const bool are_same = co_await still_defines(std::move(tables));
      definitions = co_await catalog(session);
      if (!are_same || definitions->version == version) std::rethrow_exception(refusal);
    }
  } catch (const sql::SqlError& error) {
    failure = std::current_exception();
    const std::optional<sql::SqlError> shown =
        catalog_ ? without_hidden_values(error, *catalog_, nullptr, session.role, session.database) : std::nullopt;
    if (shown) failure = std::make_exception_ptr(*shown);
    if (error.sqlstate() == sqlstate::kConnectionFailure && (transaction->writes_ahead() || !transaction->buffer().empty())) lost = error;
  } catch (...) {
    failure = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (failure) note_failure(*transaction, failure);
  if (lost) failure = co_await settle_lost_commit(commit, *lost);
  if (!failure) failure = co_await confirm_commit(session, commit);
  if (lost && !failure) transaction->locks().clear();
  commit_slots_.give_back(commit.token);
  const bool held = co_await release(session, *transaction);
  if (failure) {
    // Removes rows that were written ahead; their claim exists only if the commit failed.
    co_await clear_places_of_failure(*transaction);
  }
  if (failure) std::rethrow_exception(failure);
  if (!held) throw lapsed_lock();
  if (transaction->catalog()) {
    co_await reload_catalog();
    DdlContext context{shared_, bulk_, session, home_, database_};
    std::optional<sql::SqlError> warning;
    try {
      co_await finish_commit(context, *transaction);
      const StructureContext structures{context, access_, database_};
      std::set<sql::Oid> touched = transaction->catalog()->state().draft->touched();
      co_await settle_structures(structures, std::move(touched));
    } catch (const sql::SqlError& error) {
      warning = error;
    }
    if (warning && session.notice) session.notice("WARNING", *warning);
    co_await reload_catalog();
  }
  co_await asio::this_coro::reset_cancellation_state();
}

asio::awaitable<std::exception_ptr> RedisEngine::settle_lost_commit(SentCommit commit, sql::SqlError error) {
  CommitOutcome outcome = CommitOutcome::kFenced;
  if (commit.trace.kind == CommitTrace::Kind::kNone) outcome = CommitOutcome::kUnknown;
  if (commit.trace.kind == CommitTrace::Kind::kToken) {
    outcome = co_await decide_commit(shared_, std::move(commit.trace.tag), std::move(commit.token), commit.generation);
  }
  std::exception_ptr failure;
  if (outcome == CommitOutcome::kFenced) {
    failure = std::make_exception_ptr(
        sql::SqlError(sqlstate::kSerializationFailure,
                      "could not serialize access: the connection to Redis was lost during COMMIT, which did not take place")
            .detail(error.message())
            .hint("The transaction might succeed if retried."));
  } else if (outcome == CommitOutcome::kUnknown) {
    failure = std::make_exception_ptr(sql::SqlError(sqlstate::kTransactionResolutionUnknown,
                                                    "the connection to Redis was lost during COMMIT: it is not known whether it took place")
                                          .detail(error.message()));
  }
  co_return failure;
}

asio::awaitable<void> RedisEngine::roll_back(SessionState& session) {
  if (session.notifications) session.notifications->forget();
  const std::shared_ptr<Transaction> transaction = std::move(session.transaction);
  session.transaction.reset();
  if (!transaction) co_return;
  // A cancelled statement may have brought us here, and the locks must go all the same.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await release(session, *transaction);
  co_await clear_places_of_failure(*transaction);
  co_await asio::this_coro::reset_cancellation_state();
}

/// Deletes rows that were written ahead of a commit which did not take place.
asio::awaitable<void> RedisEngine::clear_places_of_failure(const Transaction& transaction) {
  try {
    co_await clear_new_places(shared_, transaction);
  } catch (const sql::SqlError& error) {
    spdlog::warn("rows of a transaction that came to nothing stay until VACUUM: {}", error.what());
  }
}

asio::awaitable<bool> RedisEngine::release(SessionState& session, Transaction& transaction) {
  co_await end_advisory_transaction(session);
  const LockSet locks = std::exchange(transaction.locks(), {});
  if (locks.token.empty()) co_return true;
  const bool is_suspect = lease_.suspects(locks.token);
  lease_.give_back(locks.token);
  bool held = true;
  try {
    held = co_await release_locks(shared_, locks);
    if (!held) lease_.renounce(locks.token);
    if (is_suspect) co_await lease_.sweep();
  } catch (const std::exception&) {  // the lease's next renewal removes them; without one they lapse
  }
  co_return held;
}

void RedisEngine::note_failure(const Transaction& transaction, std::exception_ptr failure) {
  if (transaction.locks().token.empty()) return;
  bool may_have_locked = true;  // a cancelled call
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const sql::SqlError& error) {
    const std::string_view of = std::string_view(error.sqlstate()).substr(0, 2);
    may_have_locked = of == "08" || of == "53" || of == "57" || of == "XX";
  } catch (...) {
  }
  if (may_have_locked) lease_.suspect(transaction.locks().token);
}

asio::awaitable<void> RedisEngine::lock_table(const SessionState& session, Transaction& transaction, const sql::TableDef& table, std::int32_t mode,
                                              bool no_wait) {
  try {
    co_await prepare_locks(transaction, session);
    const LockWaitLimits limits{session.lock_timeout, session.deadlock_timeout, session.backend_pid};
    co_await take_table_lock(shared_, transaction, table, mode, no_wait, limits, random_);
  } catch (...) {
    note_failure(transaction, std::current_exception());
    throw;
  }
}

asio::awaitable<void> RedisEngine::end_advisory_transaction(SessionState& session) {
  const std::shared_ptr<AdvisoryLocks> locks = session.advisory_locks;
  if (!locks) co_return;
  try {
    co_await locks->end_transaction(shared_);
  } catch (const std::exception&) {
    lease_.renounce(locks->token());
  }
}

asio::awaitable<void> RedisEngine::check_advisory_transaction(const SessionState& session) {
  const std::shared_ptr<AdvisoryLocks> locks = session.advisory_locks;
  if (!locks || !locks->any_of_transaction()) co_return;
  co_await lease_.hold();
  if (!lease_.covers(locks->token())) throw lapsed_lock();
}

void RedisEngine::tell_lost_advisory(SessionState& session) {
  const std::shared_ptr<AdvisoryLocks> locks = session.advisory_locks;
  if (!locks || lease_.covers(locks->token()) || (session.transaction && locks->any_of_transaction())) return;
  lease_.give_back(locks->token());
  session.advisory_locks.reset();
  if (!locks->any() || !session.notice) return;
  session.notice("WARNING", sql::SqlError(sqlstate::kWarning, "the advisory locks of the session are lost")
                                .detail("redquel or Redis stood still for longer than the lease of locks (limits.lock_lease)."));
}

asio::awaitable<bool> RedisEngine::advisory_lock(SessionState& session, sql::AdvisoryRequest request, std::int64_t key) {
  using Action = sql::AdvisoryRequest::Action;
  const bool takes = request.action == Action::kLock || request.action == Action::kTry;
  if (takes) {
    if (session.advisory_locks) co_await lease_.hold();
    if (session.transaction) co_await check_advisory_transaction(session);
    tell_lost_advisory(session);
    if (!session.advisory_locks) {
      std::string token = co_await lease_.take_token(session.backend_pid);
      session.advisory_locks = std::make_shared<AdvisoryLocks>(std::move(token));
    }
  }
  const std::shared_ptr<AdvisoryLocks> locks = session.advisory_locks;
  const AdvisoryLocks::Lock lock{key, request.halves, request.shared, request.transaction};
  if (takes) {
    std::optional<LockWaitLimits> limits;
    if (request.action == Action::kLock) limits = LockWaitLimits{session.lock_timeout, session.deadlock_timeout, session.backend_pid};
    const Attempt<bool> taken = co_await attempt(locks->take(shared_, lock, limits, random_));
    // A statement that stands for itself is its own transaction.
    const bool ends = !taken.failure && request.transaction && !session.transaction;
    if (!taken.failure && !ends) co_return *taken.value;
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    if (taken.failure) {
      co_await settle_advisory(*locks);
    } else {
      co_await end_advisory_transaction(session);
    }
    co_await asio::this_coro::reset_cancellation_state();
    if (taken.failure) std::rethrow_exception(taken.failure);
    co_return *taken.value;
  }
  const bool unlocks_all = request.action == Action::kUnlockAll;
  bool is_held = false;
  if (locks) is_held = co_await unlock_advisory(*locks, lock, unlocks_all);
  if (is_held || unlocks_all) co_return true;
  if (session.notice) {
    const char* mode = request.shared ? "ShareLock" : "ExclusiveLock";
    session.notice("WARNING", sql::SqlError(sqlstate::kWarning, std::string("you don't own a lock of type ") + mode));
  }
  co_return false;
}

asio::awaitable<void> RedisEngine::release_session_locks(SessionState& session) {
  const std::shared_ptr<AdvisoryLocks> locks = std::exchange(session.advisory_locks, nullptr);
  if (!locks) co_return;
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  try {
    co_await locks->unlock_all(shared_);
  } catch (const std::exception&) {
    lease_.renounce(locks->token());
  }
  lease_.give_back(locks->token());
  co_await asio::this_coro::reset_cancellation_state();
}

/// Releases locks even if the statement is cancelled. After a failure the rest lapses with the lease.
asio::awaitable<bool> RedisEngine::unlock_advisory(AdvisoryLocks& locks, AdvisoryLocks::Lock lock, bool all) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto unlock = [&]() -> asio::awaitable<bool> {
    if (!all) co_return co_await locks.unlock(shared_, lock);
    co_await locks.unlock_all(shared_);
    co_return true;
  };
  const Attempt<bool> is_held = co_await attempt(unlock());
  if (is_held.failure) lease_.renounce(locks.token());
  co_await asio::this_coro::reset_cancellation_state();
  if (is_held.failure) std::rethrow_exception(is_held.failure);
  co_return *is_held.value;
}

/// Gives back what a call that was cancelled may have taken.
asio::awaitable<void> RedisEngine::settle_advisory(AdvisoryLocks& locks) {
  try {
    co_await locks.settle(shared_);
  } catch (const std::exception&) {
    lease_.renounce(locks.token());
  }
}

asio::awaitable<void> RedisEngine::prepare_locks(Transaction& transaction, const SessionState& session) {
  if (!transaction.locks().token.empty()) {
    co_await lease_.hold();
    if (!lease_.covers(transaction.locks().token)) throw lapsed_lock();
    co_return;
  }
  transaction.locks().token = co_await lease_.take_token(session.backend_pid);
}

void RedisEngine::set_savepoint(SessionState& session) {
  session.transaction->set_savepoint();
  if (session.notifications) session.notifications->set_savepoint();
  ++session.savepoints;
}

void RedisEngine::release_savepoint(SessionState& session, std::size_t number) {
  session.transaction->release_savepoint(number);
  if (session.notifications) session.notifications->release_savepoint(number);
  session.savepoints = number;
}

asio::awaitable<void> RedisEngine::roll_back_to(SessionState& session, std::size_t number) {
  Transaction& transaction = *session.transaction;
  using Counters = std::vector<std::pair<std::string, std::string>>;
  const auto new_counters = [&] { return transaction.catalog() == nullptr ? Counters() : transaction.catalog()->new_counters(); };
  Counters gone = new_counters();
  transaction.roll_back_to(number);
  if (session.notifications) session.notifications->roll_back_to(number);
  session.savepoints = number + 1;
  const Counters kept = new_counters();
  std::erase_if(gone, [&](const auto& counter) { return std::ranges::find(kept, counter) != kept.end(); });
  if (gone.empty()) co_return;
  for (auto& [prefix, key] : gone) {
    const auto is_claim = [&prefix](const Removal& claim) { return claim.prefix == prefix; };
    if (transaction.catalog() != nullptr && std::ranges::any_of(transaction.catalog()->claims(), is_claim)) prefix.clear();
  }
  try {
    co_await forget_counters(shared_, std::move(gone));
  } catch (const sql::SqlError&) {  // tables that are made anew then take another prefix
  }
}

asio::awaitable<void> RedisEngine::set_constraints(const parser::ast::SetConstraints& statement, SessionState& session) {
  sql::CatalogPtr definitions = co_await catalog(session);
  co_await executor::set_constraints(shared_, statement, session, std::move(definitions));
}

asio::awaitable<void> RedisEngine::open_temporary(SessionState& session) {
  DdlContext context{shared_, bulk_, session, home_, database_};
  co_await temporary_.open(context);
}

asio::awaitable<void> RedisEngine::drop_temporary(SessionState& session) {
  if (session.temporary_schema.empty()) co_return;
  DdlContext context{shared_, bulk_, session, home_, database_};
  co_await temporary_.close(context);
  co_await reload_catalog();
}

}  // namespace redquel::executor
