#pragma once

#include <list>
#include <random>
#include <ranges>
#include <unordered_map>

#include "executor/context/execution_context.h"
#include "executor/ddl/temporary.h"
#include "executor/engine/engine.h"
#include "executor/engine/plan_cache.h"
#include "executor/engine/planned.h"
#include "executor/engine/routine.h"
#include "executor/memory/table_memory.h"
#include "executor/redis/client.h"
#include "executor/runtime/notifications.h"
#include "executor/storage/commit_sweeper.h"
#include "executor/storage/exclusive_tables.h"
#include "executor/storage/row_sweeper.h"
#include "executor/tables/callable_commands.h"
#include "executor/transaction/advisory_locks.h"
#include "executor/transaction/commit.h"
#include "executor/transaction/commit_fence.h"
#include "executor/transaction/lock_wait.h"
#include "sql/catalog/spread_table.h"

namespace redquel::executor {

/// The engine over one logical database of Redis, but for `execute`: the statements' executions need the engine, not the other way round
/// (`make_engine`).
class RedisEngine : public Engine {
 public:
  RedisEngine(RedisAccess& access, int database, RedisClient& home, EngineLimits limits, std::shared_ptr<TableMemory> memory);

  asio::awaitable<void> begin_session() override;
  asio::awaitable<void> load_definitions(SessionState& session) override;
  asio::awaitable<PreparedPtr> prepare(std::string text, std::shared_ptr<const parser::ast::Statement> statement,
                                       DeclaredParameters parameters, SessionState& session) override;
  std::shared_ptr<const parser::ast::Statement> known_statement(std::string_view text) override { return plans_.find_statement(text); }
  asio::awaitable<PreparedPtr> refresh(PreparedPtr prepared, SessionState& session) override;
  DirectRunPtr run_directly(const Prepared& prepared, std::span<const sql::Datum> parameters, SessionState& session) override;

  bool end_untouched(SessionState& session) override;
  void begin(SessionState& session) override;
  asio::awaitable<void> commit(SessionState& session) override;
  asio::awaitable<void> roll_back(SessionState& session) override;
  void set_savepoint(SessionState& session) override;
  void release_savepoint(SessionState& session, std::size_t number) override;
  asio::awaitable<void> roll_back_to(SessionState& session, std::size_t number) override;
  asio::awaitable<void> drop_temporary(SessionState& session) override;
  asio::awaitable<std::exception_ptr> named_failure(std::exception_ptr failure, const SessionState& session) override;
  asio::awaitable<void> finish_statement(SessionState& session) override;

  asio::awaitable<void> set_constraints(const parser::ast::SetConstraints& statement, SessionState& session) override;
  asio::awaitable<void> release_session_locks(SessionState& session) override;

  // ---- for its executions ----
  // The session holds the snapshot that one of these returns: its coroutines know the types of it until it takes another one.
  /// The definitions as last loaded, at first use as they are now; the transaction's own, if it has any.
  asio::awaitable<sql::CatalogPtr> catalog(const SessionState& session);
  /// Like catalog(), but does not wait; null: they must be loaded.
  sql::CatalogPtr catalog_at_hand(const SessionState& session) const;
  /// Like catalog(), at the newest version.
  asio::awaitable<sql::CatalogPtr> newest_catalog(const SessionState& session);
  /// Those that another unit had for itself when the definitions were loaded.
  const ExclusiveTables& exclusive_tables() const { return exclusive_; }
  /// Loads the definitions again; true if they had moved.
  asio::awaitable<bool> reload_catalog();
  /// Loads the definitions and returns true if these tables are unchanged, and not exclusive to another unit.
  asio::awaitable<bool> still_defines(std::vector<std::shared_ptr<const sql::TableDef>> tables);
  /// Plans the statement with the current catalog. 0A000 if the result's columns have changed and must not.
  asio::awaitable<PreparedPtr> replan(const Prepared& prepared, SessionState& session, bool may_change_columns = false);
  /// Calls `make` with the definitions, and once more with those of now if it throws a SqlError.
  asio::awaitable<void> with_definitions(SessionState& session, std::function<void(const sql::CatalogPtr&)> make);
  /// Plans a statement of a routine.
  PreparedPtr plan_in_routine(std::string text, std::shared_ptr<const parser::ast::Statement> statement, std::vector<sql::Type> parameters,
                              const sql::CatalogSnapshot& catalog, const SessionState& session, RoutineScope scope) const {
    return plan(std::move(text), std::move(statement), std::move(parameters), catalog, session, std::move(scope));
  }
  /// The routines that have been compiled, by what they are compiled for.
  RoutineCache& routines() { return routines_; }
  /// The statement's plan for a transaction that has changed rows of some tables.
  planner::PhysicalPlan plan_over_changes(const Prepared& prepared, const sql::CatalogSnapshot& catalog,
                                          const std::set<sql::Oid>& changed_tables, const SessionState& session);
  /// Before a statement that locks.
  asio::awaitable<void> prepare_locks(Transaction& transaction, const SessionState& session);
  /// The session is about to have a temporary table.
  asio::awaitable<void> open_temporary(SessionState& session);
  /// Notes, at the beginning of a statement, from where on commits may be its own. Warns the session of advisory locks that it has lost.
  void note_start(const PreparedPlan& plan, SessionState& session);
  /// A transaction of one statement, which no session knows of.
  std::shared_ptr<Transaction> begin_transaction() const;
  /// Like commit(), for the session in which the transaction began.
  asio::awaitable<void> commit_transaction(std::shared_ptr<Transaction> transaction, SessionState& session);
  /// A statement of the transaction has failed: a call without a reply may have locked something.
  void note_failure(const Transaction& transaction, std::exception_ptr failure);
  /// The table is the transaction's, one of the session, in a mode as ast::LockTable has it, until it ends. Waits; 55P03 at once with
  /// `no_wait`, or after lock_timeout, 40P01.
  asio::awaitable<void> lock_table(const SessionState& session, Transaction& transaction, const sql::TableDef& table, std::int32_t mode,
                                   bool no_wait = false);
  /// Gives the transaction's locks back; false: one of them was lost.
  asio::awaitable<bool> release(SessionState& session, Transaction& transaction);
  /// One call of pg_advisory_lock() or its kin. False: a try that failed, an unlock of what is not held (a warning then).
  asio::awaitable<bool> advisory_lock(SessionState& session, sql::AdvisoryRequest request, std::int64_t key);
  RedisClient& shared() { return shared_; }
  RedisClient& bulk() { return bulk_; }
  RedisClient& home() { return home_; }
  RedisAccess& access() { return access_; }
  int database() const { return database_; }
  const EngineLimits& limits() const { return limits_; }
  /// Null: no table is kept in memory.
  TableMemory* memory() const { return memory_.get(); }
  CheapnessMemory& cheapness() { return cheapness_; }
  CallableCommands& callable_commands() { return callable_commands_; }
  std::minstd_rand& random() { return random_; }

  /// Asks how many rows managed tables have, and how many values their indexes list.
  asio::awaitable<planner::TableSizes> sizes_of(std::vector<std::shared_ptr<const sql::TableDef>> tables);

 private:
  PreparedPtr plan(std::string text, std::shared_ptr<const parser::ast::Statement> statement, DeclaredParameters parameters,
                   const sql::CatalogSnapshot& catalog, const SessionState& session,
                   RoutineScope scope = {}, const planner::TableSizes& sizes = {}) const;
  /// Plans the statement again for the current sizes of large tables, if the plan might differ.
  asio::awaitable<PreparedPtr> plan_by_sizes(PreparedPtr prepared, DeclaredParameters parameters, sql::CatalogPtr catalog, const SessionState& session);

  /// A commit that was sent, and what can be found out about it.
  struct SentCommit {
    CommitToken token;
    std::uint64_t generation = 0;  // of the Redis that it was sent to
    std::uint64_t first_write = 0;  // the ticket of the first write that replicas must confirm
    CommitTrace trace = {};
  };
  /// Finds out whether a commit took place whose answer or confirmation was lost. Returns null if it did.
  asio::awaitable<std::exception_ptr> settle_lost_commit(SentCommit commit, sql::SqlError error);

  // engine_replication.cc
  /// Returns the ticket of the next write of commits.
  std::uint64_t next_commit() const;
  /// Waits until replicas have what was committed since the ticket. Cancellation ends the wait with a WARNING: Redis has the commit. Returns the
  /// error of a connection that was lost meanwhile; throws 08007 if too few replicas confirm in time.
  asio::awaitable<std::optional<sql::SqlError>> wait_for_replicas(SessionState& session, std::uint64_t first);
  /// Waits for the replicas of a statement that stood for itself.
  asio::awaitable<void> confirm_statement(SessionState& session);
  /// Waits for the replicas of a commit, also at the next master. Returns its failure; null: it took place.
  asio::awaitable<std::exception_ptr> confirm_commit(SessionState& session, SentCommit commit);
  asio::awaitable<void> clear_places_of_failure(const Transaction& transaction);
  asio::awaitable<void> end_advisory_transaction(SessionState& session);
  /// Throws 40001 if the transaction has lost one of its advisory locks.
  asio::awaitable<void> check_advisory_transaction(const SessionState& session);
  /// Sends a WARNING if the session's advisory locks have gone with the lease of the process. Those of an open transaction end it at its COMMIT.
  void tell_lost_advisory(SessionState& session);
  asio::awaitable<bool> unlock_advisory(AdvisoryLocks& locks, AdvisoryLocks::Lock lock, bool all);
  asio::awaitable<void> settle_advisory(AdvisoryLocks& locks);

  RedisAccess& access_;
  int database_;  // the logical one
  RedisClient& shared_;
  RedisClient& bulk_;
  RedisClient& home_;
  EngineLimits limits_;
  std::shared_ptr<TableMemory> memory_;
  sql::CatalogPtr catalog_;
  ExclusiveTables exclusive_;
  std::uint64_t generation_ = 0;
  PlanCache plans_;
  RoutineCache routines_;
  CheapnessMemory cheapness_;
  CallableCommands callable_commands_{limits_.unrestricted_call};
  LockLease lease_{shared_, database_, limits_.lock_lease_ms, [this] {
                     std::vector<PlacedTable> tables;
                     if (!catalog_) return tables;
                     for (const auto& [oid, table] : catalog_->tables) {
                       for (const auto& stored : sql::stored_tables(table)) tables.emplace_back(*stored);
                     }
                     return tables;
                   }};
  TemporarySchemas temporary_{shared_, database_, limits_.lock_lease_ms};
  RowSweeper sweeper_{bulk_};
  CommitSweeper commit_sweeper_{bulk_};
  NotificationExchange notifications_{access_, shared_, database_};
  CommitSlots commit_slots_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace redquel::executor
