#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "executor/runtime/temporary_space.h"
#include "planner/tree/access_rules.h"
#include "sql/catalog/role_set.h"
#include "sql/error.h"
#include "sql/functions/deferred_calls.h"
#include "sql/session_hooks.h"
#include "sql/session_settings.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
class RelationCounts;
struct Progress;
}

namespace redquel::sql {
class SessionMemory;
}

namespace redquel::executor {

class AdvisoryLocks;
struct RoutineState;
class SessionNotifications;
class Transaction;
struct TransitionTables;

enum class IsolationLevel : std::uint8_t { kReadCommitted, kRepeatableRead, kSerializable };

/// The visibility and change rules of a transaction's statements.
struct TransactionModes {
  IsolationLevel isolation = IsolationLevel::kReadCommitted;
  bool read_only = false, deferrable = false;
};

/// The state that the statements of one session share. The server's session owns it and passes it to every call; it outlives them.
struct SessionState {
  sql::SessionSettings settings;
  std::string user = "postgres";  // CURRENT_USER
  /// The roles of CURRENT_USER and SESSION_USER. A role that is dropped leaves its oid here: it has the rights of PUBLIC from then on, also
  /// if another role gets its name.
  sql::Oid role = sql::kPostgresRole, session_role = sql::kPostgresRole;
  /// Calls of SECURITY DEFINER functions that run: SET ROLE is refused in them.
  std::size_t definer_depth = 0;
  std::string database = "postgres";
  bool row_security = true;  // the parameter
  bool reads_memory = true;  // the parameter redquel.cache
  planner::LeftOutRules left_out_rules = {};  // the parameter redquel.left_out_rules
  /// The types that the session's coroutines know (known_types_executor.h). Each snapshot that a statement takes sets them; never null.
  std::shared_ptr<sql::KnownTypes> known_types = std::make_shared<sql::KnownTypes>();
  /// With the temporary schema in front once there is one, unless SET search_path puts pg_temp elsewhere.
  std::vector<std::string> search_path = {"public"};
  /// `search_path` with the schemas that the role may not use, and the definitions and the role for which it was filtered
  /// (follow_search_path); without a version: `search_path` has not been filtered yet.
  std::vector<std::string> written_path = {"public"};
  std::string path_version;
  sql::Oid path_role = 0;
  /// Gives the session another search path.
  void set_search_path(std::vector<std::string> path) {
    search_path = written_path = std::move(path);
    path_version.clear();
  }
  /// The schema of the session's temporary tables; empty: it has had none.
  std::string temporary_schema;
  std::int32_t backend_pid = 0;
  std::size_t work_mem = 64u << 20;  // bytes that sorts, hashes and held results of one statement may use
  std::shared_ptr<sql::SessionMemory> account;  // of its memory; null: nothing is counted
  TemporarySpacePtr temporary_space = std::make_shared<TemporarySpace>();
  /// The configuration's limits of SET work_mem and SET temp_file_limit, in bytes; none: any number.
  std::optional<std::uint64_t> work_mem_limit, temporary_space_limit;
  /// Called with NOTICE and WARNING messages (SqlError as a plain carrier of code and texts).
  std::function<void(std::string_view severity, const sql::SqlError&)> notice;
  /// Current value of a run-time parameter for current_setting(); nullopt: unknown.
  std::function<std::optional<std::string>(const std::string&)> show;
  /// All of them, for pg_settings.
  std::function<std::vector<sql::RunTimeParameter>()> run_time_parameters;
  /// set_config(): gives a parameter a value (nullopt: its default) and returns what SHOW says then. Throws as SET does.
  std::function<std::string(const std::string& name, const std::optional<std::string>& value, bool local)> set;
  sql::SessionSequences sequences;
  /// pg_advisory_lock() and its kin; made when first needed.
  std::shared_ptr<AdvisoryLocks> advisory_locks;
  /// LISTEN and NOTIFY; null: there are none (0A000).
  std::shared_ptr<SessionNotifications> notifications;
  /// The modes of the transaction, or of the next one while none is open.
  TransactionModes modes;
  /// For a statement outside of a block that may commit: the ticket of the first write of commits that may be its own (UnreplicatedCommits).
  std::optional<std::uint64_t> commits_since;
  /// The open transaction, block or implicit; null: each statement is a transaction of its own. Set by Engine::begin.
  std::shared_ptr<Transaction> transaction;
  /// The transaction has run a statement of the engine: its isolation level is fixed.
  bool has_queried = false;
  std::size_t savepoints = 0;
  std::int64_t lock_timeout = 0, deadlock_timeout = 1000;  // milliseconds; 0: none
  /// Microseconds since 2000-01-01: now() of the open transaction, and of functions in LANGUAGE sql while they run.
  std::int64_t transaction_time = 0;
  /// While functions in LANGUAGE sql run: calls within calls, and what statement_timestamp() says in all of them.
  std::size_t function_depth = 0;
  std::int64_t statement_time = 0;
  std::int32_t trigger_depth = 0;  // of triggers that run
  /// The transition tables of the trigger whose function runs; null: no routine runs, or one that has none.
  std::shared_ptr<const TransitionTables> transition_tables;
  /// The cursors of routines and their running exceptions (routines/routine_state.h); made when first needed.
  std::shared_ptr<RoutineState> routines;
  /// The server only looks at its Redis: no statement writes rows, and transactions cannot become read-write.
  bool only_looks = false;
  /// No statement of the session writes, and its transactions cannot become read-write.
  bool only_reads = false;
  /// The traffic with Redis of all statements of the session.
  ExecutionCounters counters;
  /// Plans of slow statements for the log (auto_explain.…).
  struct AutoExplain {
    std::int64_t min_duration = -1;  // milliseconds; -1: no statement's plan is logged
    bool analyze = false, verbose = false, json = false;
    std::function<void(double milliseconds, const std::string& query, const std::string& plan)> log;
  } auto_explain = {};
  /// Counts scans and written rows of tables; null: they are not counted.
  sql::RelationCounts* relation_counts = nullptr;
  /// Shows long work to other sessions; null: not shown. Removing temporary tables at the end is such work, too.
  std::shared_ptr<sql::Progress> progress;
  /// Prepared statements and cursors, for pg_prepared_statements and pg_cursors.
  std::function<sql::SessionNames()> names;
};

}  // namespace redquel::executor
