#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/ast.h"
#include "server/message_encoder.h"
#include "sql/error.h"

namespace redquel::server {

/// The state of a session between BEGIN and COMMIT: which statements are allowed, and the effects of the transaction statements. Knows no
/// engine: the session carries out the steps (PostgreSQL's manual, section 13 of "SQL commands": BEGIN, COMMIT, SAVEPOINT …).
class TransactionBlock {
 public:
  enum class State : std::uint8_t {
    kNone,      // each statement is a transaction of its own
    kString,    // implicit: the statements of one Query that has several
    kPipeline,  // implicit: what was executed since the last Sync, or a single statement that needs a transaction
    kOpen,      // a block
    kFailed,    // a block that can only be left
  };
  State state() const { return state_; }
  bool is_implicit() const { return state_ == State::kString || state_ == State::kPipeline; }
  /// SET LOCAL, SAVEPOINT and their like mean something.
  bool is_block() const { return state_ != State::kNone && state_ != State::kPipeline; }
  TransactionStatus status() const;

  /// Throws 25P02 where a failed block does not let the statement run.
  void admit(const parser::ast::Statement& statement) const;

  /// An implicit transaction begins, unless one is there.
  void begin_implicit(State kind) {
    if (state_ == State::kNone) state_ = kind;
  }
  /// It is over, or its engine's transaction is.
  void end() {
    state_ = State::kNone;
    savepoints_.clear();
  }

  /// The steps of the engine and the session's parameters, in this order.
  struct Steps {
    bool begin_parameters = false;  // the modes of BEGIN are to be set
    bool begin = false;
    bool commit = false;
    bool roll_back = false;
    bool chain = false;  // then another one, with the same modes
    bool set_savepoint = false;
    std::optional<std::size_t> release, roll_back_to;  // savepoint numbers
    std::string tag;
    std::optional<sql::SqlError> warning;
    std::optional<sql::SqlError> refusal;  // to be thrown when all of this is done
  };
  /// Throws SqlError 25P01, 3B001, 42704; the block is then as it was.
  Steps run(const parser::ast::Transaction& statement);

  /// The effect of an error: nothing, roll back the engine's whole transaction, or to savepoint `last_savepoint()`.
  enum class Failure : std::uint8_t { kNothing, kRollBack, kRollBackToSavepoint };
  Failure fail();
  std::size_t last_savepoint() const { return savepoints_.size() - 1; }

 private:
  Steps begin(const parser::ast::Transaction& statement);
  Steps end(const parser::ast::Transaction& statement, bool commit);
  /// PREPARE TRANSACTION is refused as by a PostgreSQL whose max_prepared_transactions is 0: the transaction ends.
  Steps refuse_to_prepare(const parser::ast::Transaction& statement);
  std::size_t find_savepoint(const std::string& name) const;

  State state_ = State::kNone;
  std::vector<std::string> savepoints_;
};

/// 25P01: "<construct> can only be used in transaction blocks".
sql::SqlError outside_block(std::string_view construct);
/// 25001: "<construct> cannot run inside a transaction block".
sql::SqlError inside_block(std::string_view construct);

}  // namespace redquel::server
