#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <vector>

#include "executor/engine/engine.h"
#include "server/cursor.h"
#include "server/portal.h"
#include "server/run_time_parameters.h"
#include "server/transaction_block.h"

namespace redquel::server {

namespace asio = boost::asio;

/// A session's transactions: does what its TransactionBlock says, with the engine, the parameters, the portals and the cursors.
class SessionTransactions {
 public:
  /// Everything passed belongs to the session and outlives this object.
  SessionTransactions(RunTimeParameters& parameters, Portals& portals, Cursors& cursors, executor::SessionState& state)
      : parameters_(parameters), portals_(portals), cursors_(cursors), state_(state) {}

  void set_engine(executor::Engine& engine) { engine_ = &engine; }
  const TransactionBlock& block() const { return block_; }

  /// Before a statement that may be one of several in one transaction.
  void begin_implicit(TransactionBlock::State kind);
  /// After the last of them; without effect in a block. `running`: a portal's run that is not to be closed.
  asio::awaitable<void> commit_implicit(const executor::Execution* running = nullptr);
  /// BEGIN, COMMIT, SAVEPOINT …: gives the command tag.
  asio::awaitable<std::string> run(const parser::ast::Transaction& statement, const executor::Execution* running);
  /// Like run(), for what needs no wait: BEGIN, and the end of a block that has changed nothing. nullopt: the statement is another one, and nothing
  /// has happened.
  std::optional<std::string> run_at_once(const parser::ast::Transaction& statement);
  /// A statement failed.
  asio::awaitable<void> fail();
  /// DISCARD ALL: locks that the session holds beyond its transactions.
  asio::awaitable<void> release_session_locks() { return engine_->release_session_locks(state_); }
  /// The session ends: its transaction, its temporary tables and its locks go.
  asio::awaitable<void> close();

  /// SET TRANSACTION, and the modes of BEGIN. Throws as SET does.
  void set_modes(const std::vector<parser::ast::Option>& modes);

 private:
  void open();
  asio::awaitable<void> end(bool commit, const executor::Execution* running);
  void end_cursors(bool committed);

  RunTimeParameters& parameters_;
  Portals& portals_;
  Cursors& cursors_;
  executor::SessionState& state_;
  executor::Engine* engine_ = nullptr;
  TransactionBlock block_;
  std::vector<std::size_t> parameter_marks_;  // one per savepoint
  std::vector<RunTimeParameters::TransactionValues> savepoint_values_;     // as each savepoint found them
  std::optional<RunTimeParameters::TransactionValues> chained_values_;     // what AND CHAIN has handed on to the block
};

/// The value that a mode of BEGIN or SET TRANSACTION gives its parameter.
std::string mode_value(const parser::ast::Option& mode);

}  // namespace redquel::server
