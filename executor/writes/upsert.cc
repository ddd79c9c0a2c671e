#include <algorithm>
#include <unordered_map>

#include "executor/operators/sequence_evaluation.h"
#include "executor/storage/foreign_key.h"
#include "executor/storage/row_buffer.h"
#include "executor/storage/sequences.h"
#include "executor/storage/write_conflict.h"
#include "executor/transaction/row_locks.h"
#include "executor/transaction/transaction.h"
#include "executor/writes/write_operator.h"
#include "executor/writes/writes.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Row = std::vector<sql::Datum>;
using Event = sql::TriggerDef::Event;

/// INSERT … ON CONFLICT DO UPDATE. The source has looked for the rows that are there: a proposed row that meets one changes it, any
/// other is inserted. A row that comes in between makes the statement run again.
class UpsertOperator final : public WriteOperator {
 public:
  UpsertOperator(const planner::PhysicalNode& node, const planner::PhysicalInsert& insert, ExecutionContext& context)
      : WriteOperator(node, insert.table, insert.source, context), insert_(insert), update_(*insert.conflict_update) {
    const sql::TableDef& table = *insert.table;
    conflict_.run_again = true;
    conflict_.columns = insert.conflict_columns;
    for (const RowEncoder::StructureKeys& structure : encoder_.structures()) {
      const bool is_key = structure.kind->has_owners() && structure.structure.columns == *insert.conflict_columns;
      if (is_key) key_ = &structure;
    }
    for (const sql::IndexDef& index : table.indexes) {
      std::vector<std::int16_t> columns;
      for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
      nulls_are_equal_ = nulls_are_equal_ || (index.nulls_not_distinct && columns == *insert.conflict_columns);
    }
    // A row that is there has its key: the primary key's first column, or the hidden one.
    const std::size_t key = table.has_hidden_key() ? table.columns.size() : table.position(table.primary_key[0]);
    presence_ = update_.old_row[key];
    note_read_columns(update_.old_row);
    may_pass_on_references();
  }

 private:
  asio::awaitable<void> collect(const sql::Batch& all) override {
    const sql::TableDef& table = *insert_.table;
    sql::Batch source = all;
    sql::Batch proposed{.rows = source.rows, .columns = {}};
    for (const planner::InsertColumn& column : insert_.columns) {
      proposed.columns.push_back(sql::evaluate(*column.value, source, context_.evaluation()));
    }
    if (has_before(Event::kInsert)) {
      const std::vector<std::uint32_t> kept = co_await propose(source, proposed);
      if (kept.empty()) co_return;
      source = source.gather(kept);
    }
    compute_generated(table, insert_.generated, proposed);
    std::vector<Row> rows = rows_of(proposed, positions(proposed.columns.size()));
    check_rows(table, insert_.checks, proposed, rows, insert_.policy_checks, source);
    if (!rows.empty()) refuse_deferrable_arbiters(table, insert_.conflict_columns);

    const Changes changes = co_await evaluate_update(source);
    std::vector<Row> finals;
    for (std::size_t i = 0; i < source.rows; ++i) {
      const std::optional<std::string> key = key_of(rows[i]);
      const std::optional<bool> known = key ? touched_.find(*key) : std::nullopt;
      if (known.value_or(false)) throw second_time();
      const bool is_free = is_free_again(rows[i], key);
      const bool exists = !source.columns[presence_]->is_null(i) && !known && !is_free;
      if (!exists) {
        Row row = rows[i];
        if (table.has_hidden_key()) {
          const std::vector<std::int64_t> hidden = co_await allocate_keys_of(context_.redis(), table, {&row, 1}, counters());
          row.emplace_back(hidden[0]);
        }
        insert_row(row, conflict_);
        note_inserted(row);
        if (key) touched_.set(*key);
        finals.push_back(std::move(rows[i]));
        ++written_.inserted;
        continue;
      }
      const auto change = changes.find(i);
      if (change == changes.end()) continue;  // WHERE said no
      Row new_row = change->second.new_row;
      if (table.partition_key && sql::part_of_row(table, change->second.old_row) != sql::part_of_row(table, new_row)) {
        throw sql::SqlError(sqlstate::kFeatureNotSupported, "invalid ON UPDATE specification")
            .detail("The result tuple would appear in a different partition than the original tuple.");
      }
      if (table.has_hidden_key()) new_row.push_back(change->second.old_row.back());
      if (!update_row(change->second.old_row, new_row)) throw second_time();
      new_row.resize(table.columns.size());
      if (key) touched_.set(*key, false);
      if (const std::optional<std::string> new_key = key_of(new_row)) touched_.set(*new_key);
      finals.push_back(std::move(new_row));
      ++written_.updated;
    }
    if (insert_.has_returning) returning_.push_back(evaluate_returning(insert_.returning, batch_of(finals)));
  }

  /// Fires BEFORE INSERT. The source has looked for existing rows, and computed what they become, before.
  asio::awaitable<std::vector<std::uint32_t>> propose(const sql::Batch& source, sql::Batch& proposed) {
    const std::vector<std::size_t> all = positions(proposed.columns.size());
    const std::vector<Row> before = rows_of(proposed, all);
    std::vector<std::uint32_t> kept = co_await fire_before(Event::kInsert, proposed, {});
    const std::vector<Row> after = rows_of(proposed, all);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Row& old_row = before[kept[i]];
      const bool is_same_key = std::ranges::all_of(*insert_.conflict_columns, [&](std::int16_t column) {
        const std::size_t position = column < 0 ? 0 : insert_.table->position(column);
        return old_row[position] == after[i][position];
      });
      const bool exists = !source.columns[presence_]->is_null(kept[i]);
      if (after[i] != old_row && (exists || !is_same_key)) throw sql::not_supported("a BEFORE INSERT trigger that changes a row of ON CONFLICT DO UPDATE which exists");
    }
    co_return kept;
  }

  struct Change {
    Row old_row, new_row;
  };
  using Changes = std::unordered_map<std::size_t, Change>;  // by row of the batch

  /// Computes the new values of existing rows that conflict and pass WHERE.
  asio::awaitable<Changes> evaluate_update(const sql::Batch& source) {
    const sql::TableDef& table = *insert_.table;
    std::vector<std::uint32_t> met;
    for (std::uint32_t i = 0; i < source.rows; ++i) {
      if (!source.columns[presence_]->is_null(i)) met.push_back(i);
    }
    sql::Batch batch = source.gather(met);
    check_existing(table, update_.policy_checks, batch);
    if (update_.condition) {
      const std::vector<std::uint32_t> passing = sql::select_rows(*update_.condition, batch, context_.evaluation());
      if (context_.transaction() && passing.size() < batch.rows && !table.is_mapped()) co_await lock_refused(batch, passing);
      std::vector<std::uint32_t> kept;
      for (std::uint32_t row : passing) kept.push_back(met[row]);
      met = std::move(kept);
      batch = source.gather(met);
    }
    sql::Batch updated{.rows = batch.rows, .columns = {}};
    for (std::size_t i = 0; i < table.columns.size(); ++i) updated.columns.push_back(old_column(batch, update_.old_row[i], table.columns[i].type));
    for (const planner::Assignment& assignment : update_.assignments) {
      std::vector<sql::ColumnPtr> values = co_await evaluate_with_sequences({&assignment.value, 1}, batch, context_);
      updated.columns[table.position(assignment.number)] = std::move(values[0]);
    }
    if (has_before(Event::kUpdate) && batch.rows > 0) {
      const std::vector<std::uint32_t> stay = co_await fire_before(Event::kUpdate, updated, rows_of(batch, update_.old_row));
      batch = batch.gather(stay);
      std::vector<std::uint32_t> kept;
      for (const std::uint32_t row : stay) kept.push_back(met[row]);
      met = std::move(kept);
    }
    compute_generated(table, insert_.generated, updated);
    std::vector<Row> new_rows = rows_of(updated, positions(table.columns.size()));
    std::vector<Row> old_rows = rows_of(batch, update_.old_row);
    check_rows(table, insert_.checks, updated, new_rows, update_.policy_checks, batch);
    Changes changes;
    for (std::size_t i = 0; i < met.size(); ++i) changes[met[i]] = {std::move(old_rows[i]), std::move(new_rows[i])};
    co_return changes;
  }

  /// A transaction has the rows that WHERE refuses for itself, too: what others are about to make of one may be what it asks for.
  asio::awaitable<void> lock_refused(const sql::Batch& rows, const std::vector<std::uint32_t>& passing) {
    const sql::TableDef& table = *insert_.table;
    std::vector<std::int16_t> numbers;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < update_.old_row.size(); ++i) {
      if (update_.old_row[i] == planner::kNotRead) continue;
      numbers.push_back(i < table.columns.size() ? table.columns[i].number : std::int16_t{0});
      places.push_back(update_.old_row[i]);
    }
    const LockedTable locked(insert_.table, {planner::RowLock::Strength::kNoKeyUpdate, planner::RowLock::Wait::kBlock}, numbers);
    std::vector<std::uint32_t> refused;
    for (std::uint32_t i = 0; i < rows.rows; ++i) {
      if (!std::ranges::binary_search(passing, i)) refused.push_back(i);
    }
    Transaction& transaction = *context_.transaction();
    for (std::size_t first = 0; first < refused.size(); first += context_.limits.script_rows) {
      const std::size_t count = std::min(refused.size() - first, context_.limits.script_rows);
      std::vector<RowLockRequest::Table> asked{locked.request()};
      RowLockRequest request(std::move(asked), transaction.locks().token);
      const sql::Batch some = rows.gather(std::span(refused).subspan(first, count));
      for (const Row& row : rows_of(some, places)) locked.add_row(request, row, &transaction.buffer());
      const RowLockRequest::Answer answer = co_await request.execute(context_.redis(), std::nullopt, &transaction.locks(), counters());
      if (answer.conflict) throw LockedByOther{*answer.conflict};
      if (answer.states.find_first_of("cg") != std::string::npos) throw WriteConflict{};
    }
  }

  /// Returns true if another part of the statement has taken the key away from the row that the source has found.
  /// Throws 21000 if it has given the key to a row.
  bool is_free_again(const Row& row, const std::optional<std::string>& key) const {
    if (!key || !context_.writes_in_places() || insert_.table->is_mapped()) return false;
    const RowBuffer& buffer = context_.transaction()->buffer();
    const sql::TableDef& table = *insert_.table;
    std::vector<sql::Datum> whole = row;
    whole.resize(encoder_.width());
    const sql::TableDef& stored = table.parts.empty() ? table : *sql::part_of_row(table, whole);
    if (key_ == nullptr) {
      const std::optional<RowValues> changed = changed_by_others(stored.oid, member_of(stored, whole));
      if (changed && *changed) throw second_time();
      return changed.has_value();
    }
    // The key of the set of values, of the part that has the row; `key` is the field in it.
    const std::string uniques = sql::TableKeys(table.router ? stored : table).uniques_with(*insert_.conflict_columns, *key);
    const std::vector<std::string> owners = buffer.owners(uniques, *key);
    for (const std::string& owner : owners) {
      for (const auto& part : sql::stored_tables(insert_.table)) {
        if (changed_by_others(part->oid, owner)) throw second_time();
      }
    }
    return owners.empty() && buffer.former_owner(uniques, *key).has_value();
  }

  /// Returns what other parts of the statement have made of the row, null if they have deleted it; nullopt: they have
  /// not changed it.
  std::optional<RowValues> changed_by_others(sql::Oid table, const std::string& member) const {
    const TableChangesPtr now = context_.transaction()->buffer().changes(table), before = context_.changes(table);
    const std::optional<ChangeLog::Position> position = now ? now->log->find(member, now->length) : std::nullopt;
    if (!position || (before && *position < before->length)) return std::nullopt;
    return now->log->at(*position)->row.current;
  }

  /// Returns the key under which two rows conflict; nullopt: there is none.
  std::optional<std::string> key_of(const Row& row) const {
    std::vector<sql::Datum> values;
    if (key_ != nullptr) {
      std::vector<sql::Datum> whole = row;
      whole.resize(encoder_.width());  // a hidden key says nothing here
      values = encoder_.values(*key_, whole);
    } else {
      for (const std::int16_t number : insert_.table->primary_key) values.push_back(row[insert_.table->position(number)]);
    }
    const bool has_null = std::ranges::any_of(values, [](const sql::Datum& value) { return sql::is_null(value); });
    if (has_null && !nulls_are_equal_) return std::nullopt;
    return encoder_.keys().unique_field(*insert_.conflict_columns, values);
  }

  static sql::SqlError second_time() {
    return sql::SqlError(sqlstate::kCardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time")
        .hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.");
  }

  static std::vector<std::size_t> positions(std::size_t count) {
    std::vector<std::size_t> result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = i;
    return result;
  }

  sql::Batch batch_of(const std::vector<Row>& rows) const {
    sql::Batch batch{.rows = rows.size(), .columns = {}};
    for (std::size_t i = 0; i < insert_.table->columns.size(); ++i) {
      auto column = std::make_shared<sql::Column>(insert_.table->columns[i].type);
      for (const Row& row : rows) column->append_datum(row[i]);
      batch.columns.push_back(std::move(column));
    }
    return batch;
  }

  Finish take_collected() override {
    return [this, written = std::exchange(written_, {}), rows = std::exchange(returning_, {})](const WriteUnit&) {
      context_.count_written(*insert_.table, written);
      for (const sql::Batch& batch : rows) returned_.push_back(batch);
    };
  }

  const planner::PhysicalInsert& insert_;
  const planner::ConflictUpdate<std::size_t>& update_;
  InsertConflict conflict_;
  RowEncoder encoder_{sql::stored_tables(insert_.table).front()};  // for unique values
  const RowEncoder::StructureKeys* key_ = nullptr;  // of the unique index; null: the primary key
  bool nulls_are_equal_ = false;
  std::size_t presence_;                           // in the source: not NULL where a row is there
  KnownKeys touched_;  // keys that this statement gave (true) or took away (false)
  std::vector<sql::Batch> returning_;
  ExecutionContext::WrittenRows written_;
};

}  // namespace

OperatorPtr make_upsert(const planner::PhysicalNode& node, const planner::PhysicalInsert& insert, ExecutionContext& context) {
  return std::make_unique<UpsertOperator>(node, insert, context);
}

}  // namespace redquel::executor
