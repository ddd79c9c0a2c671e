#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/temporary_space.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"
#include "sql/column.h"
#include "sql/error.h"
#include "sql/evaluation_context.h"
#include "sql/functions/sequence_calls.h"
#include "sql/session_hooks.h"
#include "sql/types/type.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// A column of a statement's result, as RowDescription tells it.
struct OutputColumn {
  std::string name;
  sql::Type type;
  sql::Oid table = 0;         // of a plain column reference, else 0
  std::int16_t attribute = 0;
};

class Transaction;  // of the executor
class AdvisoryLocks;
class SessionNotifications;

enum class IsolationLevel : std::uint8_t { kReadCommitted, kRepeatableRead, kSerializable };

/// How the statements of a transaction see and change data.
struct TransactionModes {
  IsolationLevel isolation = IsolationLevel::kReadCommitted;
  bool read_only = false, deferrable = false;
};

/// What statements of one session share. The server's session owns it and hands it to every call; it outlives them.
struct SessionState {
  sql::SessionSettings settings;
  std::string user = "postgres";
  std::string database = "postgres";
  /// With the temporary schema in front once there is one, unless SET search_path puts pg_temp elsewhere.
  std::vector<std::string> search_path = {"public"};
  /// Where the session's temporary tables lie; empty: it has had none.
  std::string temporary_schema;
  std::int32_t backend_pid = 0;
  std::size_t work_mem = 64u << 20;  // bytes that sorts, hashes and held results of one statement may use
  TemporarySpacePtr temporary_space = std::make_shared<TemporarySpace>();
  /// What the configuration allows SET work_mem and SET temp_file_limit to give, in bytes; none: any number.
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
  /// Of the transaction, or of the next one while none is open.
  TransactionModes modes;
  /// The open transaction, block or implicit; null: each statement stands for itself. Set by Engine::begin.
  std::shared_ptr<Transaction> transaction;
  /// The transaction has run a statement of the engine: its isolation level is fixed.
  bool has_queried = false;
  std::size_t savepoints = 0;
  std::int64_t lock_timeout = 0, deadlock_timeout = 1000;  // milliseconds; 0: none
  /// While functions in LANGUAGE sql run: calls within calls, and what now() and statement_timestamp() say in all of them.
  std::size_t function_depth = 0;
  std::int64_t transaction_time = 0, statement_time = 0;
  /// Prepared statements and cursors, for pg_prepared_statements and pg_cursors.
  std::function<sql::SessionNames()> names;
};

class PreparedPlan;  // planner artefacts of one statement, defined in engine.cc

/// A statement after planning; shared by its executions. Replanned by the engine when the catalog moved.
struct Prepared {
  std::string text;                                    // the one statement's source
  std::shared_ptr<const parser::ast::Statement> statement;
  std::vector<sql::Type> parameter_types;
  std::vector<OutputColumn> columns;                   // empty: no rows are returned
  bool returns_rows = false;                           // SELECT with zero columns returns rows too
  std::shared_ptr<const sql::FunctionDef> function;    // in whose body it stands; null: none
  std::shared_ptr<const parser::ast::Statement> executed;  // CREATE TABLE AS EXECUTE: the query that EXECUTE means
  bool needs_transaction = false;                      // its row locks last until it is complete, also where it stands for itself
  bool depends_on_constants = false;                   // with a parameter in a constant's place the plan might be a worse one
  std::shared_ptr<const PreparedPlan> plan;
};
using PreparedPtr = std::shared_ptr<const Prepared>;

/// One run of a statement. Rows are pulled; destroying it early ends the run.
class Execution {
 public:
  virtual ~Execution() = default;
  /// The next non-empty batch, or nullopt at the end (then the statement is complete, its writes are in Redis). Throws
  /// SqlError. Not called again after either.
  virtual asio::awaitable<std::optional<sql::Batch>> next() = 0;
  /// Before the first `next`: nobody has been told what columns the rows have, so they may be others than were planned.
  virtual void describe_later() {}
  /// What was run instead, because definitions had changed since the statement was planned; null: nothing else.
  virtual PreparedPtr replanned() const { return nullptr; }
  /// A column of the result as text format shows it: names in place of oids where the type is regclass or its like.
  virtual sql::ColumnPtr named(const sql::ColumnPtr& column) const { return column; }
  /// Of CommandComplete, once `next` has said the end: "INSERT 0 3", "SELECT 2", "CREATE TABLE".
  virtual std::string command_tag() const = 0;
};

/// What Parse declared of $1, $2, …: kUnknown or missing ones are inferred. None at all: the statement may hold no parameter, as in the
/// simple protocol (42P02).
using DeclaredParameters = std::optional<std::vector<sql::Type>>;

/// The SQL engine of one (thread, database): catalog cache, plan cache, Redis connections. Not thread-safe: used from its
/// io_context only.
class Engine {
 public:
  virtual ~Engine() = default;
  /// A session begins: it knows every definition that was complete before.
  virtual asio::awaitable<void> begin_session() { co_return; }
  /// Binds and plans one parsed statement. `text` is the statement's own source, offsets of errors count from its start.
  /// Waits only where the catalog must be loaded.
  virtual asio::awaitable<PreparedPtr> prepare(std::string text, std::shared_ptr<const parser::ast::Statement> statement,
                                               DeclaredParameters parameters, SessionState& session) = 0;
  /// The statement that this text is, if it came before: it need not be parsed again. null: unknown.
  virtual std::shared_ptr<const parser::ast::Statement> known_statement(std::string_view) { return nullptr; }
  /// The session ends, or DISCARD ALL: what it holds beyond its transactions is given back.
  virtual asio::awaitable<void> release_session_locks(SessionState&) { co_return; }
  /// The statement as the definitions are now: planned again if they moved since. As PostgreSQL does at Bind. Throws what `prepare`
  /// throws, and 0A000 "cached plan must not change result type".
  virtual asio::awaitable<PreparedPtr> refresh(PreparedPtr prepared, SessionState&) { co_return prepared; }
  /// Parameters are in the types of `prepared->parameter_types`. Nothing is sent before the first `next`.
  virtual std::unique_ptr<Execution> execute(PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session) = 0;

  // Transactions. While one is open (`SessionState::transaction`), the session's statements belong to it.

  /// Opens one; there must be none.
  virtual void begin(SessionState& session) = 0;
  /// Everything at once, or an error and nothing; it is over in both cases. Throws SqlError 40001 and what writes throw. A cancelled
  /// caller gets the outcome all the same.
  virtual asio::awaitable<void> commit(SessionState& session) = 0;
  /// Forgets what the transaction did. Without effect when there is none.
  virtual asio::awaitable<void> roll_back(SessionState& session) = 0;
  /// Savepoints are numbered from 0, the oldest.
  virtual void set_savepoint(SessionState& session) = 0;
  /// This one and the later ones are forgotten; what was done since stays.
  virtual void release_savepoint(SessionState& session, std::size_t number) = 0;
  /// What was done since then is undone; later savepoints are forgotten.
  virtual asio::awaitable<void> roll_back_to(SessionState& session, std::size_t number) = 0;
  /// A statement that stands for itself is complete: its notifications go out, what it listens to is listened to. Throws SqlError.
  virtual asio::awaitable<void> finish_statement(SessionState&) { co_return; }
  /// SET CONSTRAINTS, for the rest of the transaction; outside of one only the names are looked at. 42704, 42809; 23503 of what has waited.
  virtual asio::awaitable<void> set_constraints(const parser::ast::SetConstraints&, SessionState&) { co_return; }

  /// Drops the session's temporary tables: DISCARD TEMP, and the end of the session. There must be no transaction.
  virtual asio::awaitable<void> drop_temporary(SessionState&) { co_return; }
};

}  // namespace redquel::executor
