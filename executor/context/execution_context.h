#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/context/operator.h"
#include "executor/context/scan_counts.h"
#include "executor/redis/client.h"
#include "executor/redis/script.h"
#include "executor/runtime/temporary_space.h"
#include "planner/explain/explain.h"
#include "sql/catalog/catalog.h"
#include "sql/evaluation_context.h"
#include "sql/functions/deferred_calls.h"

namespace redquel::sql {
class SessionMemory;
}

namespace redquel::executor {

class CallableCommands;
class MemoryRun;
class TableMemory;
struct LockConflict;
class KnownKeys;
class ReadChecks;
class SeenCommits;
class StatementKeys;
class Transaction;
struct TableChanges;

/// The catalog moved since the statement was planned. Never reaches a client: the engine plans again.
struct StaleCatalog {};

/// A walk has become longer than its plan is worth. Thrown only while a Choice decides, which then runs its other plan.
struct WalkGivenUp {};

/// A run beside others would hold Redis for long: its row is asked alone. Thrown only by operators of runs that run together.
struct AskAlone {};

/// Limits that keep Redis responsive and memory bounded.
struct ReadLimits {
  std::size_t chunk_rows = 1000;         // rows that one command reads of a walk
  std::size_t set_members = 20000;       // sets larger than this are read by cursor, not by one command
  std::size_t script_rows = 2000;        // rows that one read-only script fetches
  std::size_t values = 10000;            // values of an index that one script counts
  std::size_t intersection_members = 50000;  // of the smallest set of a SINTERCARD
};

class ScanReports;
class SharedKeys;

/// The progress of keyspace scans in one run of a statement.
struct ScanProgress {
  std::uint64_t keys = 0;  // that Redis has looked at
  std::chrono::steady_clock::time_point begun;
  std::shared_ptr<ScanReports> reports;  // null: the client wants none
};

struct TransitionTables;
struct TriggerCall;
class StatementTriggers;

/// A call of a routine whose body is run.
struct FunctionInvocation {
  sql::Oid function = 0;
  std::vector<sql::Type> types;  // of the arguments
  std::vector<sql::Datum> arguments;
  /// The columns that its rows shall have; none: each row is one value, a record where the function has several columns.
  std::vector<sql::ResultColumn> columns;
  TriggerCall* trigger = nullptr;  // the call by a trigger (trigger_call.h), which takes the result; null: an ordinary call
};

/// When a plan's node last asked whether its commands are cheap; asked again after a second.
using CheapnessMemory = std::unordered_map<const void*, std::chrono::steady_clock::time_point>;

class SharedRows;

/// The services of the session to the statement that it runs.
struct SessionServices {
  sql::SessionSequences* sequences = nullptr;
  /// pg_advisory_lock() and its kin, for one key.
  std::function<asio::awaitable<bool>(sql::AdvisoryRequest, std::int64_t key)> advisory;
  /// Runs a function in LANGUAGE sql; empty if there is no session.
  std::function<asio::awaitable<std::vector<sql::Batch>>(FunctionInvocation)> run_function;
  /// Waits, with the session's limits, until the conflicting lock is released.
  std::function<asio::awaitable<void>(LockConflict)> wait_for_lock;
  /// Waits a moment after a race against other writers was lost so many times.
  std::function<asio::awaitable<void>(int times)> pause;
  /// Called if the catalog has moved during a read. Returns true if the plan's tables are unchanged, so that the statement may continue.
  /// Empty: false.
  std::function<asio::awaitable<bool>()> tables_hold;
  std::function<void(const sql::SqlError&)> notice;  // sends a NOTICE to the client; may be empty
  ExecutionCounters* session_counters = nullptr;     // of all statements of the session; null: there is no session
};

/// The bounds of a run: the memory and the temporary files that it may take, the rows that it reads and writes at once.
struct RunBounds {
  std::size_t work_mem = 64u << 20;
  std::shared_ptr<sql::SessionMemory> account;  // of the session's memory; null: nothing is counted
  TemporarySpacePtr temporary_space;            // the session's
  ReadLimits limits;
  std::size_t max_written_rows = 100'000;
};

/// The services of the engine to all runs over its logical database.
struct EngineServices {
  int database = 0;                               // the session's logical one
  RedisClient* home = nullptr;                    // where the list of databases lies
  RedisAccess* access = nullptr;                  // to the other logical databases
  CallableCommands* callable_commands = nullptr;
  CheapnessMemory* cheapness = nullptr;
  TableMemory* table_memory = nullptr;            // all copies of the process; null: there are none
  sql::RelationCounts* relation_counts = nullptr; // of the thread and the session's database; null: nothing is counted
};

class ExecutionContext;
using MakeOperator = OperatorPtr(const planner::PhysicalNode& node, ExecutionContext& context);

/// The state that the operators of one run of one statement share.
class ExecutionContext : public SessionServices, public RunBounds, public EngineServices {
 public:
  ExecutionContext(RedisClient& redis, RedisClient& bulk, sql::CatalogPtr catalog, sql::EvaluationContext evaluation, MakeOperator* make_operator)
      : redis_(redis), bulk_(bulk), catalog_(std::move(catalog)), evaluation_(std::move(evaluation)), make_operator_(make_operator) {}

  sql::EvaluationContext& evaluation() { return evaluation_; }
  const sql::EvaluationContext& evaluation() const { return evaluation_; }
  const sql::CatalogPtr& catalog() const { return catalog_; }
  RedisClient& redis() { return redis_; }

  /// One run of a plan node and, within it, of its inputs. The plan and the context outlive the operator.
  OperatorPtr make_operator(const planner::PhysicalNode& node) { return make_operator_(node, *this); }

  /// Runs commands in one round trip and checks that the catalog is still the plan's; error replies throw.
  /// Throws SqlError, StaleCatalog.
  asio::awaitable<RepliesPtr> ask(CommandBatch batch, ExecutionCounters* counters);
  /// Like ask(), but returns error replies to the caller, who maps them to errors.
  asio::awaitable<RepliesPtr> ask_unchecked(CommandBatch batch, bool atomic, ExecutionCounters* counters);
  /// The commands as one snapshot.
  asio::awaitable<RepliesPtr> ask_atomic(CommandBatch batch, ExecutionCounters* counters);
  /// On the connection for bulk reads.
  asio::awaitable<RepliesPtr> ask_bulk(CommandBatch batch, ExecutionCounters* counters);
  /// Sends a bulk read as one snapshot without waiting for it; `replies_of` gives what `ask_bulk` would have given.
  std::unique_ptr<RedisRequest> start_bulk(CommandBatch batch, ExecutionCounters* counters);
  asio::awaitable<RepliesPtr> replies_of(RedisRequest& request);
  /// A batch that calls read-only scripts.
  asio::awaitable<RepliesPtr> ask_script(const Script& script, CommandBatch batch, ExecutionCounters* counters);
  /// Checks once in the run that the catalog still is the plan's: for replies from another logical database, which carry no version.
  asio::awaitable<void> confirm_catalog(ExecutionCounters* counters);
  /// Throws StaleCatalog, unless the catalog has moved without the plan's tables (`tables_hold`).
  asio::awaitable<void> check_version(const Replies& replies);

  /// Notes that a table was read by more than one atomic command, so that its rows may stem from different moments.
  void note_turns(const sql::TableDef& table) { multi_turn_tables_.insert(table.oid); }
  /// Every read of a table calls this; a table read twice is read in two turns. The parts of a table in several buckets, which are read side by
  /// side, are read in one.
  void note_read(const sql::TableDef& table);
  /// Takes the notes of a context that is a copy of this one.
  void take_notes(const ExecutionContext& copy);
  bool needs_snapshot_check() const { return read_commands_ > 1 && !multi_turn_tables_.empty(); }
  void forget_reads() {
    read_commands_ = 0;
    multi_turn_tables_.clear();
    read_parts_.clear();
  }

  /// Returns true if the node was found cheap a moment ago.
  bool is_known_cheap(const void* node) const;
  void remember_cheap(const void* node);

  /// Counts rows of the table that the statement has inserted, updated and deleted.
  struct WrittenRows {
    std::uint64_t inserted = 0, updated = 0, deleted = 0;
    std::uint64_t all() const { return inserted + updated + deleted; }
  };
  void count_written(const sql::TableDef& table, const WrittenRows& rows);

  /// Returns the changes of the statement's transaction to a table; null: no changes, or no transaction.
  std::shared_ptr<const TableChanges> changes(sql::Oid table) const;

  /// Null: the statement is a transaction of its own.
  const std::shared_ptr<Transaction>& transaction() const { return transaction_; }
  void set_transaction(std::shared_ptr<Transaction> transaction) { transaction_ = std::move(transaction); }
  /// From now on `changes` gives what the transaction has changed so far: for a statement that writes in several places, none of which
  /// sees what the others do.
  void freeze_changes();
  /// Members of the table's rows that such a statement has updated or deleted; null: the statement writes in one place only.
  std::shared_ptr<KnownKeys> changed_rows(sql::Oid table);
  /// Returns true if the statement writes in several places.
  bool writes_in_places() const { return frozen_changes_.has_value(); }
  /// The recorder of rows found by key; null: lookups are not recorded.
  ReadChecks* reads() const { return reads_; }
  void set_reads(ReadChecks* reads) { reads_ = reads; }
  /// Returns the commits over several buckets that reads may meet; null: they read one bucket, or need no proof.
  SeenCommits* commits() const { return commits_; }
  void set_commits(SeenCommits* commits) { commits_ = commits; }

  std::size_t parameters = 0;                    // that the client has given; evaluation().parameters has slots behind them
  bool allows_increments = false;                // READ COMMITTED: what is added to need not be what was read
  bool allows_unread_increments = false;         // the first attempt of a statement outside of a block
  bool commits_at_once = false;                  // the transaction is the statement's own, and its commit verifies and locks what the only write changes
  ScanProgress scan_progress;                    // over the keyspace
  std::shared_ptr<SharedKeys> shared_keys;       // of several tables that are found by one scan of the keyspace; null: each scans for itself
  std::uint64_t affected_rows = 0;               // of INSERT, UPDATE, DELETE, MERGE
  std::size_t bounded_walks = 0;                 // Choices that are deciding
  /// What the innermost of them knows: the rows that it wants, those that it has, and how many it expects to walk, if it knows.
  struct WalkProgress {
    std::uint64_t wanted = 0, passed = 0;
    std::optional<std::size_t> expected;
  } walk_progress;
  bool runs_together = false;                    // one of several runs of a subquery at the same time (AskAlone)
  planner::RunStatistics* statistics = nullptr;  // of EXPLAIN ANALYZE
  /// The rows that the shared scans of a number read, while a share of this number runs.
  std::unordered_map<std::uint32_t, SharedRows*> shared_rows;
  std::shared_ptr<const TransitionTables> transition_tables;  // of the trigger whose function runs the statement; null: it names none
  std::shared_ptr<MemoryRun> memory;             // the copies that the run reads; null: none
  std::shared_ptr<StatementTriggers> triggers;  // of the tables that the statement writes; null: none fires
  std::shared_ptr<StatementKeys>
      statement_keys;  // of a statement that writes in several places; null: each write looks at its own

 private:
  bool is_of_known_catalog(const Replies& replies) const;
  /// Returns the counters of a read that the statement's commits note; null: there are no such commits.
  std::shared_ptr<ExecutionCounters> counters_of_read() const;
  /// Lets the commits note when the read is sent, and whether it was sent again. `own`: its counters, by counters_of_read().
  asio::awaitable<RepliesPtr> noted(asio::awaitable<RepliesPtr> asked, bool is_bulk, std::shared_ptr<ExecutionCounters> own, ExecutionCounters* counters);
  asio::awaitable<RepliesPtr> note(asio::awaitable<RepliesPtr> asked, bool is_bulk, std::shared_ptr<ExecutionCounters> own, ExecutionCounters* counters);
  asio::awaitable<RepliesPtr> checked(asio::awaitable<RepliesPtr> asked, bool may_hold_errors = false);

  RedisClient& redis_;
  RedisClient& bulk_;
  sql::CatalogPtr catalog_;
  sql::EvaluationContext evaluation_;
  MakeOperator* make_operator_;
  std::optional<std::string> later_version_;  // of the catalog in which the plan's tables are as they were
  bool is_confirmed_ = false;
  std::size_t read_commands_ = 0;
  std::set<sql::Oid> read_parts_;  // and the tables in several buckets that they are of
  std::set<sql::Oid> multi_turn_tables_;
  std::shared_ptr<Transaction> transaction_;
  std::optional<std::map<sql::Oid, std::shared_ptr<const TableChanges>>> frozen_changes_;
  std::map<sql::Oid, std::shared_ptr<KnownKeys>> changed_rows_;
  ReadChecks* reads_ = nullptr;
  SeenCommits* commits_ = nullptr;
};

/// The counts of one operator's commands, added to EXPLAIN ANALYZE's numbers of its plan node, and to those of the session, when the
/// operator ends. Counts the node's scan of a table, too.
class NodeCounters {
 public:
  NodeCounters(const planner::PhysicalNode& node, ExecutionContext& context) : node_(node), statistics_(context.statistics), session_(context.session_counters), scan_(node, context.relation_counts) {}
  ~NodeCounters();
  NodeCounters(const NodeCounters&) = delete;
  NodeCounters& operator=(const NodeCounters&) = delete;

  /// Returns the counters for the operator's commands; null if they are not counted.
  ExecutionCounters* get() { return statistics_ || session_ ? &counters_ : nullptr; }
  /// Rows that the scan has read.
  void add_rows(std::size_t rows) { scan_.add_rows(rows); }

 private:
  const planner::PhysicalNode& node_;
  planner::RunStatistics* statistics_;
  ExecutionCounters* session_;
  ScanCounts scan_;
  ExecutionCounters counters_;
};

}  // namespace redquel::executor
