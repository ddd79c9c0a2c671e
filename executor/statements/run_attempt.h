#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "executor/roles/role_access.h"
#include "executor/statements/retry_rules.h"
#include "executor/statements/statement_snapshot.h"
#include "executor/storage/read_checks.h"
#include "executor/transaction/transaction.h"

namespace redquel::executor {

/// The changes of a compound write in the buffer of its transaction. They are taken back unless they are kept.
class BufferedChanges {
 public:
  explicit BufferedChanges(std::shared_ptr<Transaction> transaction) : transaction_(std::move(transaction)), mark_(transaction_->buffer().mark()) {}
  ~BufferedChanges() {
    if (transaction_) transaction_->buffer().roll_back(mark_);
  }
  BufferedChanges(const BufferedChanges&) = delete;
  BufferedChanges& operator=(const BufferedChanges&) = delete;

  void keep() { transaction_ = nullptr; }

 private:
  std::shared_ptr<Transaction> transaction_;
  const std::size_t mark_;
};

/// One attempt to run a statement, under one snapshot of the catalog. Its end releases the operators before the context that they use, and
/// then takes buffered changes back.
struct RunAttempt {
  explicit RunAttempt(const RunPolicy& of_run) : policy(of_run), is_holding(of_run.holds_rows) {}
  RunAttempt(const RunAttempt&) = delete;
  RunAttempt& operator=(const RunAttempt&) = delete;

  const RunPolicy policy;
  std::optional<BufferedChanges> changes;  // of a compound write
  std::optional<RoleAccess> role_access;
  ReadChecks reads;
  std::optional<ExecutionContext> context;
  StatementSnapshot snapshot;
  OperatorPtr root;
  bool is_holding;             // rows, until they are known to belong together or are too many
  std::exception_ptr pending;  // of a row behind those that are held
};

}  // namespace redquel::executor
