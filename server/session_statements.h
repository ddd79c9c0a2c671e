#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/engine/engine.h"
#include "server/cursor.h"
#include "server/portal.h"
#include "server/prepared_statement.h"
#include "server/run_time_parameters.h"
#include "server/session_transactions.h"

namespace redquel::server {

/// The statements that concern the session itself and never reach the engine: SET, SHOW, RESET, DISCARD, transactions,
/// PREPARE, EXECUTE, DEALLOCATE, DECLARE, FETCH, MOVE, CLOSE. They run as Executions like any other statement, in both protocols.
class SessionStatements {
 public:
  /// Everything passed belongs to the session and outlives this object.
  SessionStatements(RunTimeParameters& parameters, PreparedStatements& statements, Portals& portals,
                    Cursors& cursors, executor::SessionState& state, SessionTransactions& transactions, sql::SessionMemory& memory)
      : parameters_(parameters), statements_(statements), portals_(portals), cursors_(cursors), state_(state), transactions_(transactions),
        memory_(memory) {}

  /// Sets the engine of the session's database, once it is known.
  void set_engine(executor::Engine& engine) { engine_ = &engine; }

  static bool handles(const parser::ast::Statement& statement);
  /// Returns the rows of pg_prepared_statements and pg_cursors.
  sql::SessionNames names() const;

  /// Describes a handled statement before it runs. Throws like PostgreSQL at Parse: SHOW of an unknown parameter, EXECUTE of an unknown
  /// statement, DECLARE of a query that is wrong. `text`: the statement's own.
  asio::awaitable<PreparedStatementPtr> prepare(SourceText source, std::string text, std::shared_ptr<const parser::ast::Statement> statement,
                                                executor::DeclaredParameters parameters);

  /// Returns true for UPDATE or DELETE … WHERE CURRENT OF a cursor.
  static bool names_cursor(const parser::ast::Statement& statement);
  /// Such a statement as the same statement of the row at that place, a ctid.
  static std::string text_at_place(const std::string& text, std::string_view place);
  /// UPDATE or DELETE … WHERE CURRENT OF a cursor, as the same statement of the row on which the cursor stands now; nullopt: it is none.
  /// 34000, 24000.
  std::optional<std::string> text_for_current(const std::string& text, const parser::ast::Statement& statement) const;

  /// Makes a run of a handled statement. It acts at the first `next`. `parameters` are in the types of `prepared->parameter_types`.
  std::unique_ptr<executor::Execution> execute(PreparedStatementPtr prepared, std::vector<sql::Datum> parameters);
  /// Makes the run of a portal that has none.
  std::unique_ptr<executor::Execution> start(Portal& portal);

 private:
  class Run;

  // Each gives the command tag.
  std::string set(const parser::ast::SetVariable& set);
  std::string set_transaction(const parser::ast::SetVariable& set);
  asio::awaitable<void> refresh_roles();
  /// All but the temporary tables.
  std::string discard(const parser::ast::Discard& discard, const executor::Execution* running);
  std::string deallocate(const parser::ast::Deallocate& deallocate);
  std::string close_portal(const parser::ast::ClosePortal& close, const executor::Execution* running);
  sql::Batch show(const parser::ast::ShowVariable& show) const;
  /// 25P01 as a warning, unless a block is open.
  void warn_outside_block(std::string_view construct) const;

  // PREPARE and EXECUTE: session_prepare.cc.
  asio::awaitable<void> store_prepared(PreparedStatementPtr outer);
  asio::awaitable<std::unique_ptr<executor::Execution>> start_prepared(PreparedStatementPtr outer);
  /// EXPLAIN EXECUTE.
  asio::awaitable<std::unique_ptr<executor::Execution>> explain_prepared(PreparedStatementPtr outer);
  /// CREATE TABLE … AS EXECUTE.
  asio::awaitable<std::unique_ptr<executor::Execution>> create_from_prepared(PreparedStatementPtr outer);
  asio::awaitable<std::vector<sql::Datum>> evaluate_arguments(const parser::ast::Execute& execute,
                                                              const PreparedStatement& target);
  /// The only row of a query made of `text`.
  asio::awaitable<std::vector<sql::Datum>> evaluate_row(std::string text);
  const PreparedStatementPtr& find_statement(const std::string& name) const;

  // DECLARE, FETCH and MOVE: session_cursors.cc.
  /// Plans the query as it is written: for its parameters, and for its errors at their places.
  asio::awaitable<std::vector<sql::Type>> analyze_cursor(std::string text, std::shared_ptr<const parser::ast::Statement> statement,
                                                         executor::DeclaredParameters parameters);
  asio::awaitable<void> declare_cursor(PreparedStatementPtr outer, std::vector<sql::Datum> parameters);
  /// Plans a cursor's query with the ctid of its rows behind them; false: they are no rows of one table.
  asio::awaitable<bool> plan_with_places(Cursor& cursor, const parser::ast::Select& query, executor::DeclaredParameters parameters);
  asio::awaitable<CursorMove> fetch(const parser::ast::Fetch& fetch, const executor::Execution* running, std::string& tag);
  /// Finds the cursor of DECLARE, or the one that a portal has become. 34000
  const Cursor& find_cursor(const std::string& name) const;
  /// Makes a cursor that a routine has opened one of the session's. Without effect if there is none of that name.
  asio::awaitable<void> adopt_cursor(const std::string& name);
  /// Reads the rest of a portal's rows into a cursor, unless that is done. 55000
  asio::awaitable<void> hold(Portal& portal, const executor::Execution* running);

  RunTimeParameters& parameters_;
  PreparedStatements& statements_;
  Portals& portals_;
  Cursors& cursors_;
  executor::SessionState& state_;
  SessionTransactions& transactions_;
  sql::SessionMemory& memory_;
  executor::Engine* engine_ = nullptr;
};

}  // namespace redquel::server
