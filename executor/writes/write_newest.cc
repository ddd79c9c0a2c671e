// Rows of a write's source that others have changed meanwhile: their newest versions take their place.

#include <limits>
#include <utility>

#include "executor/storage/write_conflict.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/transaction.h"
#include "executor/writes/write_operator.h"

namespace redquel::executor {

/// Races that a statement may lose against others before it runs again as a whole.
constexpr int kMostLostRaces = 1000;

void WriteOperator::recheck_rows(const planner::RecheckSource& recheck, const std::vector<std::size_t>& old_row) {
  // The stricter levels fail. Other parts of a statement that writes in several places know which rows this one has
  // changed.
  if (!recheck.bound || !context_.allows_increments || context_.writes_in_places()) return;
  RowRecheck::Target target{table_, old_row, {}};
  for (const sql::ColumnDef& column : table_->columns) target.numbers.push_back(column.number);
  if (table_->has_hidden_key()) target.numbers.push_back(0);
  recheck_.emplace(recheck, std::vector{std::move(target)}, context_);
}

void WriteOperator::keep(const sql::Batch& source) {
  if (!recheck_) return;
  kept_rows_ += source.rows;
  if (kept_rows_ <= context_.max_written_rows) return kept_.push_back(source);
  recheck_.reset();
  kept_.clear();
}

asio::awaitable<void> WriteOperator::write_newest_rows() {
  for (int lost_races = 0;;) {
    std::optional<LockConflict> blocker;
    bool is_overtaken = false;
    try {
      co_await write_at_once();
      co_return;
    } catch (const LockedByOther& locked) {
      if (!recheck_ || !recheck_->is_possible()) throw;
      blocker = locked.conflict;
    } catch (const WriteConflict&) {
      if (!recheck_ || ++lost_races > kMostLostRaces || !recheck_->is_possible()) throw;
      is_overtaken = true;
    }
    if (blocker) co_await context_.wait_for_lock(*std::move(blocker));
    if (is_overtaken) co_await context_.pause(lost_races);
    co_await collect_again();
  }
}

asio::awaitable<void> WriteOperator::collect_again() {
  std::vector<sql::Batch> newest;
  for (const sql::Batch& batch : kept_) {
    for (sql::Batch& rows : co_await recheck_->renewed(batch, counters())) newest.push_back(std::move(rows));
  }
  kept_ = std::move(newest);
  take_collected();
  checked_rows_ = 0;
  WriteOptions options = unit_.options();
  if (options.foreign_keys) options.foreign_keys = checks_of(context_);
  if (options.changed_rows) options.changed_rows = std::make_shared<KnownKeys>();
  unit_ = WriteUnit(std::move(options));
  if (actions_) actions_.emplace(context_);
  for (const sql::Batch& batch : kept_) co_await collect(batch);
  if (actions_) co_await take_actions(std::numeric_limits<std::size_t>::max());
}

}  // namespace redquel::executor
