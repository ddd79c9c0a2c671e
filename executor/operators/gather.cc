#include "executor/operators/gather.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "executor/context/memory_limit.h"
#include "executor/operators/column_types.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"
#include "executor/operators/sort_buffer.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/side_by_side.h"
#include "executor/tables/key_values.h"
#include "sql/catalog/spread_table.h"

namespace redquel::executor {

namespace {

using Combine = planner::Gather::Combine;
using TablePtr = std::shared_ptr<const sql::TableDef>;

/// The base of the operators over parts: the parts that are read, and their next batches, which come side by side.
class GatherOperator : public Operator {
 public:
  GatherOperator(const planner::Gather& plan, ExecutionContext& context) : plan_(plan), context_(context) {}

 protected:
  struct Part {
    OperatorPtr source;  // null: it has ended
    std::optional<sql::Batch> batch = {};
    std::size_t row = 0;  // of the batch: the first one that was not given
    std::vector<sql::ColumnPtr> keys = {};
    KeyViews views = {};
  };

  void start() {
    if (std::exchange(is_started_, true)) return;
    for (const std::size_t place : parts_read(plan_, context_.evaluation())) parts_.push_back({context_.make_operator(*plan_.parts[place])});
  }

  /// Gets the next batch of each part that has none. Returns false if all parts have ended.
  asio::awaitable<bool> fill() {
    std::vector<asio::awaitable<void>> steps;
    for (Part& part : parts_) {
      if (part.source && !part.batch) steps.push_back(pull(part));
    }
    co_await run_side_by_side(std::move(steps));
    co_return std::ranges::any_of(parts_, [](const Part& part) { return part.batch.has_value(); });
  }

  const planner::Gather& plan_;
  ExecutionContext& context_;
  std::deque<Part> parts_;
  bool is_started_ = false;

 private:
  static asio::awaitable<void> pull(Part& part) {
    part.batch = co_await part.source->next();
    part.row = 0;
    if (!part.batch || part.source->is_at_end()) part.source.reset();
  }
};

/// The batches of all parts, as they come.
class AppendParts final : public GatherOperator {
 public:
  using GatherOperator::GatherOperator;

  asio::awaitable<std::optional<sql::Batch>> next() override {
    start();
    while (true) {
      for (Part& part : parts_) {
        if (part.batch) co_return *std::exchange(part.batch, std::nullopt);
      }
      if (!co_await fill()) co_return std::nullopt;
    }
  }

  bool is_at_end() const override {
    return is_started_ && std::ranges::all_of(parts_, [](const Part& part) { return !part.source && !part.batch; });
  }
};

/// The rows of parts that are in order, in that order.
class MergeParts final : public GatherOperator {
 public:
  MergeParts(const planner::PhysicalNode& node, const planner::Gather& plan, ExecutionContext& context)
      : GatherOperator(plan, context), types_(column_types(node)), keys_(expressions_of(plan)) {
    for (const planner::SortKey& key : plan.keys) directions_.push_back({key.descending, key.nulls_first});
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    start();
    if (turn_.is_over()) co_await turn_.yield();
    if (!co_await fill()) co_return std::nullopt;
    for (Part& part : parts_) {
      if (!part.batch || !part.keys.empty()) continue;
      part.keys = decoded(keys_.evaluate(*part.batch, context_.evaluation()));
      part.views = views_of(part.keys);
    }
    co_return merged();
  }

 private:
  static std::vector<sql::ExpressionPtr> expressions_of(const planner::Gather& plan) {
    std::vector<sql::ExpressionPtr> expressions;
    for (const planner::SortKey& key : plan.keys) expressions.push_back(key.expression);
    return expressions;
  }

  /// Gives rows until the batch of a part that goes on has ended.
  sql::Batch merged() {
    RowStore rows(types_);
    while (rows.rows() < sql::kBatchRows) {
      Part* first = nullptr;
      for (Part& part : parts_) {
        if (part.batch && (first == nullptr || compare_sort_keys(directions_, part.views, part.row, first->views, first->row) < 0)) first = &part;
      }
      if (first == nullptr) break;
      const RowNumber number = static_cast<RowNumber>(first->row++);
      rows.append(first->batch->columns, {&number, 1});
      if (first->row < first->batch->rows) continue;
      first->batch.reset();
      first->keys.clear();
      first->views.clear();
      if (first->source) break;
    }
    return rows.take();
  }

  std::vector<sql::Type> types_;
  ExpressionList keys_;
  std::vector<SortDirection> directions_;
  EventLoopTurn turn_;
};

/// Counts of all parts, added by group.
class AddParts final : public GatherOperator {
 public:
  AddParts(const planner::PhysicalNode& node, const planner::Gather& plan, ExecutionContext& context)
      : GatherOperator(plan, context), types_(column_types(node)), groups_(std::span(types_).first(plan.group_columns), KeyTable::Nulls::kEqual),
        sums_(types_.size() - plan.group_columns), limit_(context, "GROUP BY") {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    start();
    if (!is_added_) {
      if (plan_.group_columns == 0) grow(1);
      while (co_await fill()) {
        for (Part& part : parts_) {
          if (part.batch) add(*std::exchange(part.batch, std::nullopt));
        }
        limit_.check_bound(groups_.memory());
        if (turn_.is_over()) co_await turn_.yield();
      }
      is_added_ = true;
    }
    const std::size_t count = std::min(sql::kBatchRows, size_ - given_);
    if (count == 0) co_return std::nullopt;
    sql::Batch batch{.rows = count, .columns = {}};
    if (plan_.group_columns > 0) batch.columns = groups_.keys().slice(given_, count).columns;
    for (const std::vector<std::int64_t>& sums : sums_) {
      auto column = std::make_shared<sql::Column>(sql::kInt8);
      for (std::size_t group = given_; group < given_ + count; ++group) column->append(sums[group]);
      batch.columns.push_back(std::move(column));
    }
    given_ += count;
    co_return batch;
  }

 private:
  void grow(std::size_t size) {
    size_ = size;
    for (std::vector<std::int64_t>& sums : sums_) sums.resize(size);
  }

  void add(const sql::Batch& batch) {
    const std::vector<sql::ColumnPtr> columns = decoded(batch.columns);
    std::vector<RowNumber> numbers(batch.rows);
    if (plan_.group_columns > 0) {
      groups_.find_or_add(std::span(columns).first(plan_.group_columns), batch.rows, numbers);
      grow(groups_.size());
    }
    for (std::size_t index = 0; index < sums_.size(); ++index) {
      const sql::Column& counts = *columns[plan_.group_columns + index];
      for (std::size_t row = 0; row < batch.rows; ++row) sums_[index][numbers[row]] += counts.get<std::int64_t>(row);
    }
  }

  std::vector<sql::Type> types_;
  KeyTable groups_;
  std::vector<std::vector<std::int64_t>> sums_;  // by column, then by group
  MemoryLimit limit_;
  EventLoopTurn turn_;
  std::size_t size_ = 0, given_ = 0;
  bool is_added_ = false;
};

/// Returns true if the expression needs no slot behind the parameters of the statement.
bool is_known(const sql::Expression& expression, std::size_t parameters) {
  if (const auto* slot = std::get_if<sql::ParameterRef>(&expression.node)) return slot->slot < parameters;
  bool known = true;
  sql::for_each_child(expression, [&](const sql::ExpressionPtr& child) { known = known && is_known(*child, parameters); });
  return known;
}

/// Returns true if all values of the limits are known so. Without limits there is nothing to know: all parts are read.
bool is_known(const std::vector<planner::PartLimit>& limits, std::size_t parameters) {
  const auto known = [&](const sql::ExpressionPtr& value) { return !value || is_known(*value, parameters); };
  return !limits.empty() && std::ranges::all_of(limits, [&](const planner::PartLimit& limit) {
    return std::ranges::all_of(limit.equal, known) && known(limit.lower) && known(limit.upper);
  });
}

void collect_tables(const planner::PhysicalNode& node, const sql::EvaluationContext& evaluation, std::size_t parameters, std::vector<TablePtr>& tables) {
  const auto* gather = std::get_if<planner::Gather>(&node.node);
  if (gather != nullptr && is_known(gather->limits, parameters)) {
    for (const std::size_t place : parts_read(*gather, evaluation)) collect_tables(*gather->parts[place], evaluation, parameters, tables);
    return;
  }
  if (const TablePtr* table = planner::table_of(node)) {
    for (const TablePtr& stored : sql::stored_tables(*table)) {
      if (std::ranges::find(tables, stored->oid, [](const TablePtr& known) { return known->oid; }) == tables.end()) tables.push_back(stored);
    }
  }
  for (const planner::PhysicalPlan& input : planner::inputs_of(node)) collect_tables(*input, evaluation, parameters, tables);
}

std::size_t count_places(const planner::PhysicalNode& node) {
  using planner::Reads;
  const Reads how = planner::traits_of(node).reads;
  std::size_t count = how == Reads::kNothing || how == Reads::kEntriesOfInput ? 0 : 1;
  if (const auto* gather = std::get_if<planner::Gather>(&node.node)) return count_places(*gather->parts.front());
  for (const planner::PhysicalPlan& input : planner::inputs_of(node)) count += count_places(*input);
  return count;
}

/// Returns true if the node asks Redis for its rows, or knows without that there are none.
bool asks_redis(const planner::PhysicalNode& node) {
  using planner::Reads;
  const Reads how = planner::traits_of(planner::below_row_wise(node)).reads;
  return how == Reads::kByKey || how == Reads::kByValue || how == Reads::kRows || how == Reads::kEntries;
}

}  // namespace

std::vector<std::size_t> parts_read(const planner::Gather& gather, const sql::EvaluationContext& evaluation) {
  std::vector<std::size_t> places;
  if (gather.limits.empty()) {
    for (std::size_t place = 0; place < gather.parts.size(); ++place) places.push_back(place);
    return places;
  }
  const auto value_of = [&](std::int16_t column, const sql::ExpressionPtr& value) -> std::optional<sql::Datum> {
    const auto key = evaluate_key(*gather.table, {&column, 1}, {&value, 1}, evaluation);
    return key ? std::optional(key->front()) : std::nullopt;
  };
  const auto limits_of = [&](std::int16_t column) {
    sql::PartitionKeyLimits limits;
    for (const planner::PartLimit& limit : gather.limits) {
      if (limit.column != column) continue;
      limits.only_null = limits.only_null || limit.only_null;
      limits.not_null = limits.not_null || limit.not_null;
      if (!limit.equal.empty()) {
        limits.equal.emplace();
        for (const sql::ExpressionPtr& value : limit.equal) {
          if (auto known = value_of(column, value)) limits.equal->push_back(*std::move(known));
        }
      }
      // A value that the column cannot have limits nothing here. The conditions decide.
      if (limit.lower) {
        if (auto known = value_of(column, limit.lower)) limits.lower = {*std::move(known), limit.lower_inclusive};
      }
      if (limit.upper) {
        if (auto known = value_of(column, limit.upper)) limits.upper = {*std::move(known), limit.upper_inclusive};
      }
    }
    return limits;
  };
  for (const std::size_t number : sql::parts_within(*gather.table, limits_of)) {
    const auto found = std::ranges::lower_bound(gather.numbers, number);
    if (found != gather.numbers.end() && *found == number) places.push_back(static_cast<std::size_t>(found - gather.numbers.begin()));
  }
  return places;
}

std::vector<TablePtr> tables_of_run(const planner::PhysicalPlan& plan, const sql::EvaluationContext& evaluation, std::size_t parameters) {
  std::vector<TablePtr> tables;
  // Alone, a lookup of values that lie by value looks for commits by itself.
  const auto* lookup = std::get_if<planner::UniqueLookup>(&planner::below_row_wise(*plan).node);
  if (lookup != nullptr && !lookup->read.table->parts.empty()) return tables;
  collect_tables(*plan, evaluation, parameters, tables);
  return tables;
}

bool reads_in_one_place(const planner::PhysicalNode& plan) { return count_places(plan) <= 1; }

bool walks_on_bulk_connection(const planner::PhysicalNode& plan) {
  // The inner table is walked once the outer rows are there: what found them was asked behind the counters, by the same connection.
  const auto* adaptive = std::get_if<planner::AdaptiveJoin>(&plan.node);
  if (adaptive != nullptr && asks_redis(*adaptive->outer)) return walks_on_bulk_connection(*adaptive->outer);
  const auto* ordered = std::get_if<planner::OrderedScan>(&plan.node);
  if (ordered != nullptr && ordered->goal) return false;  // a window by the connection of the counters
  const planner::NodeTraits& traits = planner::traits_of(plan);
  if (traits.walks == planner::Walks::kTable) return true;
  if (traits.reads == planner::Reads::kCopy) return true;  // the fence has a connection of its own
  const std::vector<planner::PhysicalPlan> inputs = planner::inputs_of(plan);
  return std::ranges::any_of(inputs, [](const planner::PhysicalPlan& input) { return walks_on_bulk_connection(*input); });
}

OperatorPtr make_gather(const planner::PhysicalNode& node, const planner::Gather& plan, ExecutionContext& context) {
  switch (plan.combine) {
    case Combine::kAppend: return std::make_unique<AppendParts>(plan, context);
    case Combine::kMerge: return std::make_unique<MergeParts>(node, plan, context);
    case Combine::kAdd: return std::make_unique<AddParts>(node, plan, context);
  }
  return nullptr;
}

}  // namespace redquel::executor
