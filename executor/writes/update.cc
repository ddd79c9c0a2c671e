#include <algorithm>

#include "executor/operators/sequence_evaluation.h"
#include "executor/writes/increment.h"
#include "executor/writes/unread_update.h"
#include "executor/writes/write_operator.h"
#include "executor/writes/writes.h"
#include "planner/physical/increment.h"
#include "executor/runtime/computation.h"
#include "sql/catalog/spread_table.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

/// Returns the integer columns of a mapped table to which the update adds. The read values are checked again, so other columns may depend
/// on them.
std::vector<std::size_t> mapped_increments(const planner::PhysicalUpdate& update) {
  std::vector<std::size_t> added;
  for (const planner::Assignment& assignment : update.assignments) {
    const std::size_t position = update.table->position(assignment.number);
    const sql::Oid type = update.table->columns[position].type.oid;
    const bool adds = sql::is_integer_type(type) && assignment.value->type.oid == type &&
                      planner::adds_to(*assignment.value, static_cast<std::uint32_t>(update.old_row[position]));
    if (adds) added.push_back(position);
  }
  return added;
}

/// Returns true if the update may change a primary key or a unique value.
bool changes_keys(const planner::PhysicalUpdate& update) {
  const sql::TableDef& table = *update.table;
  std::vector<bool> is_key(table.columns.size());
  for (const std::int16_t number : table.primary_key) is_key[table.position(number)] = true;
  const std::shared_ptr<const RowEncoder> encoder = encoder_of(sql::stored_tables(update.table).front());
  for (const RowEncoder::StructureKeys& structure : encoder->structures()) {
    if (!structure.kind->has_owners()) continue;
    for (const std::size_t position : structure.sources) is_key[position] = true;
  }
  const auto meets_key = [&](const planner::Assignment& assignment) { return is_key[table.position(assignment.number)]; };
  return std::ranges::any_of(update.assignments, meets_key) || std::ranges::any_of(update.generated, meets_key);
}

class UpdateOperator final : public WriteOperator {
 public:
  UpdateOperator(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context)
      : WriteOperator(node, update.table, update.source, context), update_(update) {
    if (changes_keys(update)) may_exchange_keys();
    note_read_columns(update.old_row);
    recheck_rows(update.recheck, update.old_row);
    if (update.table->is_mapped()) {
      increments_ = mapped_increments(update);
    } else if (context.allows_increments) {
      added_ = update.added;
    }
  }

 private:
  asio::awaitable<void> collect(const sql::Batch& all) override {
    const sql::TableDef& table = *update_.table;
    sql::Batch source = all;
    sql::Batch batch;  // the new row, then the source's columns
    batch.rows = source.rows;
    for (std::size_t i = 0; i < table.columns.size(); ++i) batch.columns.push_back(old_column(source, update_.old_row[i], table.columns[i].type));
    for (const planner::Assignment& assignment : update_.assignments) {
      sql::ColumnPtr& target = batch.columns[table.position(assignment.number)];
      if (calls_sequences({&assignment.value, 1})) {
        std::vector<sql::ColumnPtr> evaluated = co_await evaluate_with_sequences({&assignment.value, 1}, source, context_);
        target = std::move(evaluated[0]);
      } else {
        auto value = [&] { return sql::evaluate(*assignment.value, source, context_.evaluation()); };
        if (may_take_long({&assignment.value, 1})) target = co_await compute_in_turns(std::move(value));
        else target = value();
      }
    }
    if (has_before(sql::TriggerDef::Event::kUpdate)) {
      const std::vector<std::uint32_t> kept = co_await fire_before(sql::TriggerDef::Event::kUpdate, batch, rows_of(source, update_.old_row));
      if (kept.empty()) co_return;
      source = source.gather(kept);
    }
    if (!update_.generated.empty()) {
      sql::Batch whole = batch;
      whole.columns.insert(whole.columns.end(), source.columns.begin(), source.columns.end());
      compute_generated(table, update_.generated, whole);
      std::copy_n(whole.columns.begin(), batch.columns.size(), batch.columns.begin());
    }
    std::vector<std::size_t> positions(table.columns.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
    std::vector<std::vector<sql::Datum>> old_rows = rows_of(source, update_.old_row), new_rows = rows_of(batch, positions);
    batch.columns.insert(batch.columns.end(), source.columns.begin(), source.columns.end());
    check_rows(table, update_.checks, batch, new_rows, update_.policy_checks, source);

    co_await give_hidden_keys(old_rows, new_rows);
    std::vector<std::uint32_t> changed;
    for (std::size_t i = 0; i < source.rows; ++i) {
      // A row that joins several others is updated once, by the first of them.
      const bool adds = !added_.empty() && std::all_of(added_.begin(), added_.end(), [&](std::size_t position) {
        return is_far_from_bounds(old_rows[i][position]) && is_far_from_bounds(new_rows[i][position]);
      });
      if (update_row(old_rows[i], new_rows[i], adds ? added_ : increments_)) changed.push_back(static_cast<std::uint32_t>(i));
    }
    updated_ += changed.size();
    if (update_.has_returning) batches_.push_back(evaluate_returning(update_.returning, batch.gather(changed)));
    co_return;
  }

  Finish take_collected() override {
    return [this, updated = std::exchange(updated_, 0), batches = std::exchange(batches_, {})](const WriteUnit&) {
      context_.count_written(*update_.table, {.updated = updated});
      for (const sql::Batch& batch : batches) returned_.push_back(batch);
    };
  }

  const planner::PhysicalUpdate& update_;
  std::vector<std::size_t> added_;  // positions of columns that only grow
  std::vector<std::size_t> increments_;  // the same of a mapped table
  std::vector<sql::Batch> batches_;
  std::uint64_t updated_ = 0;
};

class DeleteOperator final : public WriteOperator {
 public:
  DeleteOperator(const planner::PhysicalNode& node, const planner::PhysicalDelete& removal, ExecutionContext& context)
      : WriteOperator(node, removal.table, removal.source, context), delete_(removal) {
    note_read_columns(removal.old_row);
    recheck_rows(removal.recheck, removal.old_row);
  }

 private:
  asio::awaitable<void> collect(const sql::Batch& all) override {
    sql::Batch source = all;
    std::vector<std::vector<sql::Datum>> rows = rows_of(source, delete_.old_row);
    if (has_before(sql::TriggerDef::Event::kDelete)) {
      const std::vector<std::uint32_t> kept = co_await fire_before_delete(rows);
      if (kept.empty()) co_return;
      source = source.gather(kept);
      rows = rows_of(source, delete_.old_row);
    }
    std::vector<std::uint32_t> deleted;
    for (std::size_t i = 0; i < source.rows; ++i) {
      if (delete_row(rows[i])) deleted.push_back(static_cast<std::uint32_t>(i));
    }
    deleted_ += deleted.size();
    if (delete_.has_returning) batches_.push_back(evaluate_returning(delete_.returning, source.gather(deleted)));
    co_return;
  }

  Finish take_collected() override {
    return [this, deleted = std::exchange(deleted_, 0), batches = std::exchange(batches_, {})](const WriteUnit&) {
      context_.count_written(*delete_.table, {.deleted = deleted});
      for (const sql::Batch& batch : batches) returned_.push_back(batch);
    };
  }

  const planner::PhysicalDelete& delete_;
  std::vector<sql::Batch> batches_;
  std::uint64_t deleted_ = 0;
};

}  // namespace

OperatorPtr make_update(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context) {
  if (OperatorPtr increment = make_buffered_increment(node, update, context)) return increment;
  if (OperatorPtr unread = make_unread_update(node, update, context)) return unread;
  return std::make_unique<UpdateOperator>(node, update, context);
}

OperatorPtr make_delete(const planner::PhysicalNode& node, const planner::PhysicalDelete& removal, ExecutionContext& context) {
  return std::make_unique<DeleteOperator>(node, removal, context);
}

}  // namespace redquel::executor
