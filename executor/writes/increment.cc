#include "executor/writes/increment.h"

#include <algorithm>

#include "executor/storage/constraint_errors.h"
#include "executor/storage/stored_row.h"
#include "executor/storage/write_conflict.h"
#include "executor/storage/write_unit.h"
#include "executor/tables/key_values.h"
#include "executor/transaction/increments.h"
#include "executor/transaction/row_locks.h"
#include "executor/transaction/transaction.h"
#include "planner/physical/increment.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

bool is_far_from_bounds(const sql::Datum& value) {
  if (const auto* number = std::get_if<std::int32_t>(&value)) return *number > -(1 << 30) && *number < (1 << 30);
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr && *number > -kIncrementBound / 4 && *number < kIncrementBound / 4;
}

namespace {

const planner::KeyLookup& lookup_of(const planner::PhysicalUpdate& update) { return *planner::row_lookup(update); }

}  // namespace

sql::Batch looked_up(const planner::PhysicalUpdate& update, const std::vector<sql::Datum>& row) {
  sql::Batch batch{.rows = 1, .columns = {}};
  const std::vector<std::int16_t>& numbers = lookup_of(update).read.numbers;
  batch.columns.reserve(numbers.size());
  for (const std::int16_t number : numbers) {
    const std::size_t position = update.table->position(number);
    batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(update.table->columns[position].type, row[position], 1)));
  }
  return batch;
}

bool is_selected(const planner::PhysicalUpdate& update, const sql::Batch& row, const sql::EvaluationContext& evaluation) {
  const sql::ExpressionPtr& condition = lookup_of(update).read.condition;
  return !condition || !sql::select_rows(*condition, row, evaluation).empty();
}

namespace {

/// The row is read, locked in the same script where a query will look at it, and what becomes of it noted, without the general write unit.
class BufferedIncrement final : public Operator {
 public:
  BufferedIncrement(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, std::string member, ExecutionContext& context)
      : update_(update), context_(context), rows_(stored_rows_of(update.table)), member_(std::move(member)), counters_(node, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const sql::TableDef& table = *update_.table;
    const StoredRows& rows = *rows_;
    const bool locks = IncrementHabits::of_this_thread().locks_at_once(table.oid);
    std::optional<std::vector<sql::Datum>> before;
    if (locks) {
      before = co_await lock(rows);
    } else {
      before = co_await read(rows);
    }
    if (!before) co_return std::nullopt;
    const sql::Batch source = looked_up(update_, *before);
    if (!is_selected(update_, source, context_.evaluation())) co_return std::nullopt;
    std::vector<sql::Datum> after = *before;
    for (const planner::Assignment& assignment : update_.assignments) {
      after[table.position(assignment.number)] = sql::evaluate(*assignment.value, source, context_.evaluation())->datum(0);
    }
    const auto may_grow = [&](std::size_t position) { return is_far_from_bounds((*before)[position]) && is_far_from_bounds(after[position]); };
    if (!locks && !std::ranges::all_of(update_.added, may_grow)) throw WriteConflict{};  // written as any other change
    require_not_null(table, after, *context_.evaluation().settings);
    const auto stored = std::make_shared<const std::vector<sql::Datum>>(*std::move(before));
    const auto current = std::make_shared<const std::vector<sql::Datum>>(std::move(after));
    std::vector<std::size_t> increments;
    if (!locks) increments = update_.added;
    context_.transaction()->buffer().set(update_.table, member_, {stored, current, std::move(increments)});
    context_.count_written(table, {.updated = 1});
    co_return std::nullopt;
  }

 private:
  using Row = std::optional<std::vector<sql::Datum>>;

  asio::awaitable<Row> read(const StoredRows& rows) {
    CommandBatch batch;
    rows.append_fetch(batch, member_);
    const RepliesPtr replies = co_await context_.ask(std::move(batch), counters_.get());
    co_return rows.decode(member_, replies->array(0));
  }

  asio::awaitable<Row> lock(const StoredRows& rows) {
    Transaction& transaction = *context_.transaction();
    const planner::RowLock lock{planner::RowLock::Strength::kNoKeyUpdate, planner::RowLock::Wait::kBlock};
    std::vector<RowLockRequest::Table> tables{{*update_.table, lock, rows.presence_and_fields()}};
    RowLockRequest request(std::move(tables), transaction.locks().token);
    request.add_row(member_, rows.keys().row_of_member(member_), {});
    request.read_to_write();
    const RowLockRequest::Answer answer = co_await request.execute(context_.redis(), std::nullopt, &transaction.locks(), counters_.get());
    co_await context_.check_version(*answer.replies);
    if (answer.conflict) throw LockedByOther{*answer.conflict};
    if (answer.states != "l") co_return std::nullopt;
    co_return rows.decode(member_, answer.row(0).subspan(1));
  }

  const planner::PhysicalUpdate& update_;
  ExecutionContext& context_;
  const std::shared_ptr<const StoredRows> rows_;
  const std::string member_;
  NodeCounters counters_;
};

}  // namespace

OperatorPtr make_buffered_increment(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context) {
  if (!context.allows_unread_increments || !context.transaction() || !update.may_write_unread || update.added.empty()) return nullptr;
  const sql::TableDef& table = *update.table;
  if (!table.parts.empty()) return nullptr;
  const auto key = evaluate_key(table, table.primary_key, lookup_of(update).keys[0], context.evaluation());
  if (!key) return nullptr;
  std::string member = sql::TableKeys(table).member(*key);
  if (context.transaction()->buffer().find(table.oid, member)) return nullptr;  // its own change
  return std::make_unique<BufferedIncrement>(node, update, std::move(member), context);
}

}  // namespace redquel::executor
