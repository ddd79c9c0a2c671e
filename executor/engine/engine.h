#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/direct/direct_run.h"
#include "executor/runtime/session_state.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"
#include "sql/column.h"
#include "sql/error.h"
#include "sql/types/type.h"

namespace redquel::planner {
struct VariableScope;
}

namespace redquel::executor {

namespace asio = boost::asio;

/// A column of a statement's result, for RowDescription.
struct OutputColumn {
  std::string name;
  sql::Type type;
  sql::Oid table = 0;         // of a plain column reference, else 0
  std::int16_t attribute = 0;
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
  std::shared_ptr<const planner::VariableScope> variables;  // that it may name; null: none
  std::shared_ptr<const parser::ast::Statement> executed;  // CREATE TABLE AS EXECUTE: the query that EXECUTE means
  bool needs_transaction = false;                      // its row locks last until it is complete, also outside of a block
  bool has_direct_run = false;                         // see Engine::run_directly
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
  /// Before the first `next`, for cursors: the rights of the session's role are checked now, and those rows are read whose rights it had.
  virtual asio::awaitable<void> open() { co_return; }
  /// Called before the first `next`: the client has not seen the columns, so replanning may change them.
  virtual void describe_later() {}
  /// Returns the statement that ran instead, because definitions had changed since the planning; null: none.
  virtual PreparedPtr replanned() const { return nullptr; }
  /// A column of the result as text format shows it: names in place of oids where the type is regclass or its like.
  virtual sql::ColumnPtr named(const sql::ColumnPtr& column) const { return column; }
  /// Returns the types of the definitions that its rows were read with, for the rows' output; null: those that the session knows.
  virtual sql::UserTypesPtr user_types() const { return nullptr; }
  /// Returns the tag of CommandComplete, after `next` has returned the end: "INSERT 0 3", "SELECT 2", "CREATE TABLE".
  virtual std::string command_tag() const = 0;
};

/// The types that Parse declared for $1, $2, …: kUnknown or missing ones are inferred. nullopt: the statement may hold no parameter, as in
/// the simple protocol (42P02).
using DeclaredParameters = std::optional<std::vector<sql::Type>>;

struct EngineLimits {
  std::size_t script_rows = 2000;  // that one script writes; statements with more rows are journaled units
  std::size_t cached_plans = 1000;
  std::size_t lock_lease_ms = 30'000;  // a process that stands still for longer has lost its locks
  bool unrestricted_call = false;  // redis.call() runs what is no command on keys, too
};

/// The SQL engine of one (thread, database): catalog cache, plan cache, Redis connections. Not thread-safe: used from its
/// io_context only.
class Engine {
 public:
  virtual ~Engine() = default;
  /// A session begins: it knows every definition that was complete before.
  virtual asio::awaitable<void> begin_session() { co_return; }
  /// Loads the definitions and roles as they are now.
  virtual asio::awaitable<void> load_definitions(SessionState&) { co_return; }
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

  /// Sends the commands of a statement whose run is one turn of them; parameters as for `execute`, none is NULL. Null: the statement or the
  /// moment is not of that kind, nothing was sent, and `execute` is to run it.
  virtual DirectRunPtr run_directly(const Prepared&, std::span<const sql::Datum>, SessionState&) { return nullptr; }

  // Transactions. While one is open (`SessionState::transaction`), the session's statements belong to it.

  /// Ends a transaction that has changed nothing, locked nothing, keeps no reads and has nothing to say: for it COMMIT and ROLLBACK are the
  /// same. Returns false if it has, and is still open.
  virtual bool end_untouched(SessionState&) { return false; }
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
  /// Undoes the changes since then, and forgets later savepoints.
  virtual asio::awaitable<void> roll_back_to(SessionState& session, std::size_t number) = 0;
  /// Completes a statement outside of a block: sends its notifications and starts to listen to its channels. Throws SqlError.
  virtual asio::awaitable<void> finish_statement(SessionState&) { co_return; }
  /// SET CONSTRAINTS, for the rest of the transaction; outside of one only the names are looked at. 42704, 42809; 23503 of what has waited.
  virtual asio::awaitable<void> set_constraints(const parser::ast::SetConstraints&, SessionState&) { co_return; }

  /// Returns the failure that the client is to see: where a key of Redis does not hold what redquel needs, the error
  /// names the key and the repair. To be called once the statement has ended.
  virtual asio::awaitable<std::exception_ptr> named_failure(std::exception_ptr failure, const SessionState&) {
    co_return failure;
  }

  /// Drops the session's temporary tables: DISCARD TEMP, and the end of the session. There must be no transaction.
  virtual asio::awaitable<void> drop_temporary(SessionState&) { co_return; }
};

}  // namespace redquel::executor
