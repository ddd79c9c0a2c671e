// SELECT … FOR UPDATE and its relatives. If a row has changed between its read and its lock, the conditions are
// evaluated again over its newest version (RowRecheck).

#include <fmt/format.h>

#include <algorithm>

#include "executor/runtime/row_store.h"
#include "executor/storage/write_conflict.h"
#include "executor/tables/key_values.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/row_locks.h"
#include "executor/transaction/transaction.h"
#include "executor/writes/returned_rows.h"
#include "executor/writes/row_recheck.h"
#include "executor/writes/write_operator.h"
#include "executor/writes/writes.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Mark = planner::PhysicalLockRows::Mark;

class LockRowsOperator final : public Operator {
 public:
  LockRowsOperator(const planner::PhysicalNode& node, const planner::PhysicalLockRows& plan, ExecutionContext& context)
      : plan_(plan), input_(context.make_operator(*plan.input)), context_(context), counters_(node, context) {
    for (const Mark& mark : plan.marks) {
      tables_.emplace_back(mark.table, mark.lock, mark.numbers);
      skips_ = skips_ || mark.lock.wait == planner::RowLock::Wait::kSkipLocked;
    }
    if (!plan.recheck.bound || !context.allows_increments) return;
    std::vector<RowRecheck::Target> targets;
    for (const Mark& mark : plan.marks)
      targets.push_back(
          {mark.table, mark.positions, mark.numbers, mark.lock.strength == planner::RowLock::Strength::kKeyShare});
    recheck_.emplace(plan.recheck, std::move(targets), context);
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    // A row that has changed makes the whole statement run again, so none goes out before all are locked.
    if (input_) co_await lock_all();
    co_return locked_.next();
  }

 private:
  asio::awaitable<void> lock_all() {
    wanted_ = evaluate_goal(plan_.goal.limit, plan_.goal.offset, context_.evaluation()).wanted();
    while (!wanted_ || *wanted_ > 0) {
      if (!pending_ || first_ == pending_->rows) {
        pending_ = co_await input_->next();
        first_ = 0;
        if (!pending_) break;
      }
      const std::size_t locked = co_await lock_some();
      if (wanted_) *wanted_ -= std::min(*wanted_, locked);
    }
    if (must_look_again_) throw WriteConflict{};
    input_.reset();
    pending_.reset();
  }

  /// Locks on rows of foreign tables. Their keys are not looked at when they are locked: the statement runs again when it has got new
  /// ones, and finds the rows as they are then.
  std::size_t mapped_locks(const LockSet* held) const {
    std::size_t count = 0;
    for (const LockedTable& table : tables_) {
      if (held == nullptr || !table.table().is_mapped() || !context_.allows_increments) continue;  // the stricter levels look at nothing again
      count += held->count_kept(table.table());
    }
    return count;
  }

  /// Adds the rows of a script's answer to the locked ones, the changed ones in their newest versions. Returns their
  /// number.
  asio::awaitable<std::size_t> take(const std::string& states) {
    if (states.find_first_of("cg") != std::string::npos && (!recheck_ || !recheck_->is_possible()))
      throw WriteConflict{};
    std::vector<sql::Batch> taken;
    std::vector<RowNumber> same;
    const auto put_same = [&] {
      if (!same.empty()) taken.push_back(pending_->gather(same));
      same.clear();
    };
    for (std::size_t row = 0; row < states.size(); ++row) {
      const auto number = static_cast<RowNumber>(first_ + row);
      if (states[row] == 'l') same.push_back(number);
      if (states[row] != 'c') continue;
      put_same();
      const sql::Batch changed = pending_->gather({&number, 1});
      for (sql::Batch& renewed : co_await recheck_->renewed(changed, counters_.get()))
        taken.push_back(std::move(renewed));
    }
    put_same();
    std::size_t count = 0;
    for (const sql::Batch& batch : taken) {
      count += batch.rows;
      if (!must_look_again_) locked_.push_back(batch);
    }
    co_return count;
  }

  /// Locks as many of the pending rows as one script takes. Returns the number of those that it gives.
  asio::awaitable<std::size_t> lock_some() {
    std::size_t count = std::min(pending_->rows - first_, context_.limits.script_rows);
    // Only locked rows are passed over: without SKIP LOCKED no more are looked at than are wanted.
    if (wanted_ && !skips_) count = std::min(count, *wanted_);
    const std::shared_ptr<Transaction>& transaction = context_.transaction();
    std::vector<RowLockRequest::Table> asked;
    for (const LockedTable& table : tables_) asked.push_back(table.request());
    RowLockRequest request(std::move(asked), transaction ? transaction->locks().token : std::string());
    const sql::Batch rows = pending_->gather(row_range(first_, count));
    std::vector<std::vector<std::vector<sql::Datum>>> values;
    for (const Mark& mark : plan_.marks) values.push_back(rows_of(rows, mark.positions));
    for (std::size_t row = 0; row < count; ++row) {
      for (std::size_t table = 0; table < tables_.size(); ++table) {
        tables_[table].add_row(request, values[table][row], transaction ? &transaction->buffer() : nullptr);
      }
    }
    LockSet* held = transaction ? &transaction->locks() : nullptr;
    const std::size_t held_before = mapped_locks(held);
    const RowLockRequest::Answer answer = co_await request.execute(context_.redis(), wanted_, held, counters_.get());
    if (answer.not_waited_for) {
      const std::string& name = tables_[*answer.not_waited_for].table().name;
      throw sql::SqlError(sqlstate::kLockNotAvailable, fmt::format("could not obtain lock on row in relation \"{}\"", name));
    }
    must_look_again_ = must_look_again_ || mapped_locks(held) != held_before;
    const std::size_t locked = co_await take(answer.states);
    if (answer.conflict) {
      first_ += answer.states.size();
      co_await context_.wait_for_lock(*answer.conflict);
    } else {
      first_ += answer.states.size() < count ? pending_->rows - first_ : count;
    }
    co_return locked;
  }

  const planner::PhysicalLockRows& plan_;
  std::vector<LockedTable> tables_;
  OperatorPtr input_;
  ExecutionContext& context_;
  NodeCounters counters_;
  std::optional<RowRecheck> recheck_;  // none: the statement runs again
  bool skips_ = false, must_look_again_ = false;
  std::optional<std::size_t> wanted_;  // rows that are still to be locked
  std::optional<sql::Batch> pending_;
  std::size_t first_ = 0;  // of the pending rows, the first that was not looked at
  ReturnedRows locked_{context_.temporary_space};
};

}  // namespace

OperatorPtr make_lock_rows(const planner::PhysicalNode& node, const planner::PhysicalLockRows& plan, ExecutionContext& context) {
  return std::make_unique<LockRowsOperator>(node, plan, context);
}

}  // namespace redquel::executor
