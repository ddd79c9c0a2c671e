#include <algorithm>
#include <map>
#include <utility>

#include "executor/operators/sequence_evaluation.h"
#include "executor/storage/sequences.h"
#include "executor/tables/mapped_access.h"
#include "executor/writes/write_operator.h"
#include "executor/writes/writes.h"
#include "planner/tree/logical_walk.h"
#include "executor/runtime/computation.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace {

template <class Integer>
Integer narrow(std::int64_t number, std::string_view type) {
  if (std::in_range<Integer>(number)) return static_cast<Integer>(number);
  throw sql::number_out_of_range(type);
}

/// VALUES: seldom many.
bool is_list_of_rows(planner::PhysicalPlan source) {
  while (source) {
    if (std::holds_alternative<planner::PhysicalValues>(source->node)) return true;
    const std::vector<planner::PhysicalPlan> inputs = planner::inputs_of(*source);
    source = inputs.size() == 1 ? inputs[0] : nullptr;
  }
  return false;
}

class InsertOperator final : public WriteOperator {
 public:
  InsertOperator(const planner::PhysicalNode& node, const planner::PhysicalInsert& insert, ExecutionContext& context,
                 OperatorPtr source, bool brings_many)
      : WriteOperator(node, insert.table, insert.source, context, std::move(source)), insert_(insert), brings_many_(brings_many) {
    conflict_.skip = insert.on_conflict == planner::LogicalInsert::OnConflict::kNothing;
    conflict_.columns = insert.conflict_columns;
    calls_sequences_ = std::ranges::any_of(insert.columns, [](const planner::InsertColumn& column) {
      return column.value && calls_sequences({&column.value, 1});
    });
    if (!conflict_.skip && brings_many) write_ahead_if_possible();
  }

 private:
  asio::awaitable<void> collect(const sql::Batch& all) override {
    sql::Batch source = all;
    sql::Batch batch;
    batch.rows = source.rows;
    batch.columns.reserve(insert_.columns.size());
    std::map<const planner::InsertColumn*, sql::ColumnPtr> in_order;
    if (calls_sequences_) in_order = co_await evaluate_in_order(source);
    for (const planner::InsertColumn& column : insert_.columns) {
      sql::ColumnPtr values;
      if (const auto known = in_order.find(&column); known != in_order.end()) {
        values = known->second;
      } else if (calls_sequences_ && column.value && calls_sequences({&column.value, 1})) {
        std::vector<sql::ColumnPtr> evaluated = co_await evaluate_with_sequences({&column.value, 1}, source, context_);
        values = std::move(evaluated[0]);
      } else if (column.value) {
        auto value = [&] { return sql::evaluate(*column.value, source, context_.evaluation()); };
        if (may_take_long({&column.value, 1})) values = co_await compute_in_turns(std::move(value));
        else values = value();
      } else {
        values = co_await next_values(column, source.rows);
      }
      batch.columns.push_back(std::move(values));
    }
    if (has_before(sql::TriggerDef::Event::kInsert)) {
      const std::vector<std::uint32_t> kept = co_await fire_before(sql::TriggerDef::Event::kInsert, batch, {});
      if (kept.empty()) co_return;
      source = source.gather(kept);
    }
    compute_generated(*insert_.table, insert_.generated, batch);
    std::vector<std::size_t> positions(batch.columns.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
    std::vector<std::vector<sql::Datum>> rows = rows_of(batch, positions);
    check_rows(*insert_.table, insert_.checks, batch, rows, insert_.policy_checks, source);
    if (conflict_.skip && !rows.empty()) refuse_deferrable_arbiters(*insert_.table, insert_.conflict_columns);
    if (insert_.table->has_hidden_key() && !insert_.table->is_mapped()) co_await add_hidden_keys(rows);
    std::size_t first = next_ordinal();
    for (const auto& row : rows) {
      if (!insert_mapped_row(row, conflict_)) add_to_unit(row, conflict_);
    }
    inserted_ += rows.size();
    if (!conflict_.skip) {
      for (const auto& row : rows) note_inserted(row);
    }
    if (!insert_.has_returning && !conflict_.skip) co_return;
    const std::size_t count = batch.rows;
    if (insert_.has_returning) batch = evaluate_returning(insert_.returning, batch);
    batches_.push_back({std::move(batch), first, count, conflict_.skip ? std::move(rows) : std::vector<std::vector<sql::Datum>>()});
  }

  /// If a column reads the value that a sequence gave this row, columns that ask sequences are computed row by row; otherwise none are.
  asio::awaitable<std::map<const planner::InsertColumn*, sql::ColumnPtr>> evaluate_in_order(const sql::Batch& source) {
    std::vector<const planner::InsertColumn*> columns;
    std::vector<sql::ExpressionPtr> expressions;
    bool asks = false;
    for (const planner::InsertColumn& column : insert_.columns) {
      if (!column.value || !calls_sequences({&column.value, 1})) continue;
      asks = asks || planner::asks_for_current_value(*column.value);
      columns.push_back(&column);
      expressions.push_back(column.value);
    }
    std::map<const planner::InsertColumn*, sql::ColumnPtr> values;
    if (!asks) co_return values;
    const std::vector<sql::ColumnPtr> evaluated = co_await evaluate_with_sequences(expressions, source, context_);
    for (std::size_t i = 0; i < columns.size(); ++i) values.emplace(columns[i], evaluated[i]);
    co_return values;
  }

  asio::awaitable<sql::ColumnPtr> next_values(const planner::InsertColumn& column, std::size_t count) {
    sql::Type type = insert_.table->find_column(column.number)->type;
    auto found = context_.catalog()->sequences.find(column.sequence);
    if (found == context_.catalog()->sequences.end()) throw StaleCatalog{};
    RedisClient* client = &context_.redis();
    if (insert_.table->is_mapped()) client = co_await client_of(*insert_.table, context_);
    std::vector<std::int64_t> numbers = co_await executor::next_values(*client, found->second, count, context_, counters());
    if (!numbers.empty() && context_.sequences != nullptr) context_.sequences->note(column.sequence, numbers.back());
    auto values = std::make_shared<sql::Column>(type);
    values->reserve(count);
    for (std::int64_t number : numbers) {
      switch (type.oid) {
        case sql::oid::kInt2: values->append(narrow<std::int16_t>(number, "smallint")); break;
        case sql::oid::kInt4: values->append(narrow<std::int32_t>(number, "integer")); break;
        default: values->append(number); break;
      }
    }
    co_return values;
  }

  /// Redis answers behind the rows that are on their way: a statement that goes on and on asks for more keys at a time, and leaves some.
  asio::awaitable<void> add_hidden_keys(std::vector<std::vector<sql::Datum>>& rows) {
    constexpr std::size_t kFirstRows = 10'000, kMostKeys = 100'000;
    if (insert_.table->partition_key) {
      const std::vector<std::int64_t> keys = co_await allocate_keys_of(context_.redis(), *insert_.table, rows, counters());
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].emplace_back(keys[i]);
      co_return;
    }
    if (keys_.size() < rows.size()) {
      const std::size_t ahead = brings_many_ && given_keys_ >= kFirstRows ? std::min(given_keys_, kMostKeys) : 0;
      const std::size_t missing = rows.size() - keys_.size() + ahead;
      std::vector<std::int64_t> keys = co_await allocate_row_keys(context_.redis(), *insert_.table, missing, counters());
      keys_.insert(keys_.end(), keys.begin(), keys.end());
    }
    for (auto& row : rows) {
      row.emplace_back(keys_.front());
      keys_.pop_front();
    }
    given_keys_ += rows.size();
  }

  Finish take_collected() override {
    return [this, inserted = std::exchange(inserted_, 0), batches = std::exchange(batches_, {})](const WriteUnit& unit) {
      std::uint64_t all = inserted;
      for (const Collected& collected : batches) {
        std::vector<std::uint32_t> kept;
        for (std::size_t i = 0; i < collected.count; ++i) {
          if (conflict_.skip && was_skipped(unit, collected.first + i)) continue;
          kept.push_back(static_cast<std::uint32_t>(i));
          if (conflict_.skip) note_inserted(collected.rows[i]);
        }
        all -= collected.count - kept.size();
        if (insert_.has_returning) returned_.push_back(kept.size() == collected.count ? collected.returned : collected.returned.gather(kept));
      }
      context_.count_written(*insert_.table, {.inserted = all});
    };
  }

  struct Collected {
    sql::Batch returned;  // RETURNING has made it of the new rows
    std::size_t first;    // ordinal of the first row in the unit
    std::size_t count;    // of rows
    std::vector<std::vector<sql::Datum>> rows;  // ON CONFLICT DO NOTHING: some of them may yield
  };

  const planner::PhysicalInsert& insert_;
  InsertConflict conflict_;
  std::vector<Collected> batches_;
  std::uint64_t inserted_ = 0;
  const bool brings_many_;
  bool calls_sequences_ = false;  // in the values of columns
  std::deque<std::int64_t> keys_;  // hidden ones, not given to a row yet
  std::size_t given_keys_ = 0;
};

}  // namespace

OperatorPtr make_insert(const planner::PhysicalNode& node, const planner::PhysicalInsert& insert, ExecutionContext& context,
                        OperatorPtr source) {
  if (insert.conflict_update) return make_upsert(node, insert, context);
  const bool brings_many = source || !is_list_of_rows(insert.source);
  return std::make_unique<InsertOperator>(node, insert, context, std::move(source), brings_many);
}

}  // namespace redquel::executor
