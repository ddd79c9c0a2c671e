#include "server/transaction_block.h"

#include <algorithm>

#include <fmt/format.h>

#include "sql/sqlstate.h"

namespace redquel::server {

namespace ast = parser::ast;

sql::SqlError outside_block(std::string_view construct) {
  return sql::SqlError(sqlstate::kNoActiveTransaction, fmt::format("{} can only be used in transaction blocks", construct));
}

sql::SqlError inside_block(std::string_view construct) {
  return sql::SqlError(sqlstate::kActiveTransaction, fmt::format("{} cannot run inside a transaction block", construct));
}

namespace {

sql::SqlError no_transaction() { return sql::SqlError(sqlstate::kNoActiveTransaction, "there is no transaction in progress"); }

}  // namespace

TransactionStatus TransactionBlock::status() const {
  switch (state_) {
    case State::kOpen:
      return TransactionStatus::kInBlock;
    case State::kFailed:
      return TransactionStatus::kFailed;
    default:
      return TransactionStatus::kIdle;
  }
}

void TransactionBlock::admit(const ast::Statement& statement) const {
  if (state_ != State::kFailed) return;
  if (const auto* transaction = std::get_if<ast::Transaction>(&statement.node)) {
    using Kind = ast::TransactionKind;
    const Kind kind = transaction->kind;
    if (kind == Kind::kCommit || kind == Kind::kRollback || kind == Kind::kRollbackTo || kind == Kind::kPrepare) return;
  }
  throw sql::SqlError(sqlstate::kFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block");
}

TransactionBlock::Steps TransactionBlock::run(const ast::Transaction& statement) {
  Steps steps;
  switch (statement.kind) {
    case ast::TransactionKind::kBegin:
    case ast::TransactionKind::kStart:
      return begin(statement);
    case ast::TransactionKind::kCommit:
      return end(statement, true);
    case ast::TransactionKind::kRollback:
      return end(statement, false);
    case ast::TransactionKind::kPrepare:
      return refuse_to_prepare(statement);
    case ast::TransactionKind::kSavepoint:
      if (state_ != State::kOpen) throw outside_block("SAVEPOINT");
      savepoints_.push_back(statement.savepoint);
      steps.set_savepoint = true;
      steps.tag = "SAVEPOINT";
      return steps;
    case ast::TransactionKind::kRelease:
      if (state_ != State::kOpen) throw outside_block("RELEASE SAVEPOINT");
      steps.release = find_savepoint(statement.savepoint);
      savepoints_.resize(*steps.release);
      steps.tag = "RELEASE";
      return steps;
    case ast::TransactionKind::kRollbackTo:
      if (state_ != State::kOpen && state_ != State::kFailed) throw outside_block("ROLLBACK TO SAVEPOINT");
      steps.roll_back_to = find_savepoint(statement.savepoint);
      savepoints_.resize(*steps.roll_back_to + 1);
      state_ = State::kOpen;
      steps.tag = "ROLLBACK";
      return steps;
    case ast::TransactionKind::kCommitPrepared:
    case ast::TransactionKind::kRollbackPrepared:
      if (is_block()) {
        throw inside_block(statement.kind == ast::TransactionKind::kCommitPrepared ? "COMMIT PREPARED" : "ROLLBACK PREPARED");
      }
      break;
  }
  throw sql::SqlError(sqlstate::kUndefinedObject, fmt::format("prepared transaction with identifier \"{}\" does not exist", statement.global_id));
}

TransactionBlock::Steps TransactionBlock::begin(const ast::Transaction& statement) {
  Steps steps;
  steps.tag = statement.kind == ast::TransactionKind::kBegin ? "BEGIN" : "START TRANSACTION";
  steps.begin_parameters = true;
  if (state_ == State::kOpen) {
    steps.warning = sql::SqlError(sqlstate::kActiveTransaction, "there is already a transaction in progress");
  } else {
    steps.begin = state_ == State::kNone;  // an implicit transaction becomes the block
    state_ = State::kOpen;
  }
  return steps;
}

TransactionBlock::Steps TransactionBlock::end(const ast::Transaction& statement, bool commit) {
  Steps steps;
  const bool in_block = state_ == State::kOpen || state_ == State::kFailed;
  if (!in_block) {
    if (statement.chain) throw outside_block(commit ? "COMMIT AND CHAIN" : "ROLLBACK AND CHAIN");
    steps.warning = no_transaction();
  }
  commit = commit && state_ != State::kFailed;
  steps.tag = commit ? "COMMIT" : "ROLLBACK";
  steps.commit = commit && state_ != State::kNone;
  steps.roll_back = !commit && state_ != State::kNone;
  steps.chain = statement.chain;
  end();
  if (steps.chain) state_ = State::kOpen;
  return steps;
}

TransactionBlock::Steps TransactionBlock::refuse_to_prepare(const ast::Transaction& statement) {
  constexpr std::size_t kLongestIdentifier = 199;
  const bool has_transaction = state_ == State::kOpen || state_ == State::kString;
  Steps steps = end(statement, state_ == State::kPipeline);  // which commits what the pipeline has done
  steps.tag = "ROLLBACK";
  if (!has_transaction) return steps;
  if (statement.global_id.size() > kLongestIdentifier) {
    steps.refusal = sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("transaction identifier \"{}\" is too long", statement.global_id));
  } else {
    steps.refusal = sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, "prepared transactions are disabled")
                        .hint("Set max_prepared_transactions to a nonzero value.");
  }
  return steps;
}

TransactionBlock::Failure TransactionBlock::fail() {
  if (state_ == State::kNone || state_ == State::kFailed) return Failure::kNothing;
  if (state_ != State::kOpen) {
    end();
    return Failure::kRollBack;
  }
  state_ = State::kFailed;
  return savepoints_.empty() ? Failure::kRollBack : Failure::kRollBackToSavepoint;
}

std::size_t TransactionBlock::find_savepoint(const std::string& name) const {
  const auto found = std::find(savepoints_.rbegin(), savepoints_.rend(), name);
  if (found == savepoints_.rend()) throw sql::SqlError(sqlstate::kInvalidSavepoint, fmt::format("savepoint \"{}\" does not exist", name));
  return static_cast<std::size_t>(savepoints_.rend() - found) - 1;
}

}  // namespace redquel::server
