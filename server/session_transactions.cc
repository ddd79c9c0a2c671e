#include "server/session_transactions.h"
#include "executor/runtime/failure.h"

namespace redquel::server {

namespace ast = parser::ast;

namespace {

constexpr std::size_t kReadOnly = 1;  // its place among RunTimeParameters::TransactionValues

}  // namespace

std::string mode_value(const ast::Option& mode) {
  if (const auto* word = std::get_if<std::string>(&mode.value)) return *word;
  if (const auto* number = std::get_if<std::int64_t>(&mode.value)) return *number != 0 ? "on" : "off";
  if (const auto* flag = std::get_if<bool>(&mode.value)) return *flag ? "on" : "off";
  return {};
}

void SessionTransactions::set_modes(const std::vector<ast::Option>& modes) {
  for (const ast::Option& mode : modes) parameters_.set(mode.name, mode_value(mode), true);
}

void SessionTransactions::open() {
  engine_->begin(state_);
  parameters_.begin_transaction();
  parameter_marks_.clear();
  savepoint_values_.clear();
  chained_values_.reset();
}

/// Cursors WITH HOLD outlive the transaction that made them, if it commits.
void SessionTransactions::end_cursors(bool committed) {
  std::erase_if(cursors_, [&](const auto& entry) { return !entry.second->outlives && !(entry.second->hold && committed); });
  for (const auto& [name, cursor] : cursors_) {
    cursor->outlives = true;
    cursor->savepoints = 0;
  }
}

asio::awaitable<void> SessionTransactions::end(bool commit, const executor::Execution* running) {
  std::erase_if(portals_, [&](const auto& entry) { return entry.second->execution.get() != running || running == nullptr; });
  std::exception_ptr failure;
  try {
    if (commit && state_.transaction) {
      co_await engine_->commit(state_);
    } else {
      co_await engine_->roll_back(state_);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  parameters_.end_transaction(commit && !failure);
  end_cursors(commit && !failure);
  if (failure) std::rethrow_exception(failure);
}

void SessionTransactions::begin_implicit(TransactionBlock::State kind) {
  if (block_.state() != TransactionBlock::State::kNone) return;
  block_.begin_implicit(kind);
  open();
}

asio::awaitable<void> SessionTransactions::commit_implicit(const executor::Execution* running) {
  if (!block_.is_implicit()) co_return;
  block_.end();
  co_await end(true, running);
}

asio::awaitable<std::string> SessionTransactions::run(const ast::Transaction& statement, const executor::Execution* running) {
  const TransactionBlock::Steps steps = block_.run(statement);
  if (steps.warning && state_.notice) state_.notice("WARNING", *steps.warning);
  if (steps.begin) open();
  if (steps.begin_parameters) {
    std::exception_ptr failure;
    try {
      set_modes(statement.modes);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure && steps.begin) {  // a block that could not begin as it should is none
      block_.end();
      co_await end(false, running);
    }
    if (failure) std::rethrow_exception(failure);
  }
  if (steps.commit || steps.roll_back) {
    RunTimeParameters::TransactionValues values;
    if (steps.chain) values = steps.roll_back && chained_values_ ? *chained_values_ : parameters_.transaction_values();
    const std::exception_ptr failure = co_await executor::failure_of(end(steps.commit, running));
    if (failure) {
      block_.end();
      std::rethrow_exception(failure);
    }
    if (steps.chain) {
      open();
      parameters_.set_transaction_values(values);
      chained_values_ = values;
    }
  }
  if (steps.set_savepoint) {
    engine_->set_savepoint(state_);
    parameter_marks_.push_back(parameters_.mark());
    savepoint_values_.push_back(parameters_.transaction_values());
  }
  if (steps.release) {
    engine_->release_savepoint(state_, *steps.release);
    parameter_marks_.resize(*steps.release);
    // READ ONLY lasts as long as the savepoint.
    RunTimeParameters::TransactionValues values = parameters_.transaction_values();
    values.at(kReadOnly) = savepoint_values_.at(*steps.release).at(kReadOnly);
    parameters_.set_transaction_values(values);
    savepoint_values_.resize(*steps.release);
    for (const auto& [name, cursor] : cursors_) cursor->savepoints = std::min(cursor->savepoints, *steps.release);
  }
  if (steps.roll_back_to) {
    co_await engine_->roll_back_to(state_, *steps.roll_back_to);
    std::erase_if(cursors_, [&](const auto& entry) { return entry.second->savepoints > *steps.roll_back_to; });
    parameter_marks_.resize(*steps.roll_back_to + 1);
    savepoint_values_.resize(*steps.roll_back_to + 1);
    parameters_.roll_back_to(parameter_marks_.back());
  }
  if (steps.refusal) throw *steps.refusal;
  co_return steps.tag;
}

std::optional<std::string> SessionTransactions::run_at_once(const ast::Transaction& statement) {
  using Kind = ast::TransactionKind;
  const bool begins = statement.kind == Kind::kBegin || statement.kind == Kind::kStart;
  const bool ends = statement.kind == Kind::kCommit || statement.kind == Kind::kRollback;
  if (begins && block_.state() == TransactionBlock::State::kNone && statement.modes.empty()) {
    const TransactionBlock::Steps steps = block_.run(statement);
    open();
    return steps.tag;
  }
  if (!ends || statement.chain || block_.state() != TransactionBlock::State::kOpen || !engine_->end_untouched(state_)) return std::nullopt;
  const TransactionBlock::Steps steps = block_.run(statement);
  portals_.clear();
  parameters_.end_transaction(steps.commit);
  end_cursors(steps.commit);
  return steps.tag;
}

asio::awaitable<void> SessionTransactions::fail() {
  using Failure = TransactionBlock::Failure;
  const bool had_none = block_.state() == TransactionBlock::State::kNone;
  switch (block_.fail()) {
    case Failure::kNothing:
      if (had_none) {  // the statement's transaction is over
        portals_.clear();
        if (engine_ != nullptr) co_await engine_->roll_back(state_);
      }
      co_return;
    case Failure::kRollBack:
      co_await end(false, nullptr);
      co_return;
    case Failure::kRollBackToSavepoint:
      co_await engine_->roll_back_to(state_, block_.last_savepoint());
      parameters_.roll_back_to(parameter_marks_.back());
      co_return;
  }
}

asio::awaitable<void> SessionTransactions::close() {
  if (engine_ == nullptr) co_return;
  co_await engine_->roll_back(state_);
  co_await engine_->release_session_locks(state_);
  co_await engine_->drop_temporary(state_);
}

}  // namespace redquel::server
