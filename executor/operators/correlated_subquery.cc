#include "executor/operators/correlated_subquery.h"

#include <algorithm>
#include <bit>

#include "executor/operators/plan_volatility.h"
#include "executor/runtime/row_store.h"
#include "executor/runtime/side_by_side.h"
#include "planner/tree/bounded_scan.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/expressions/convert_column.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Members of one set that runs which run together may look at.
constexpr std::size_t kMostMembers = 2000;

/// Returns true if the node's own commands find rows by keys or index entries, and its expressions wait for nothing.
bool looks_up(const planner::PhysicalNode& node) {
  const auto waits = [](const sql::ExpressionPtr& expression) { return planner::waits(*expression); };
  if (!planner::is_bounded_scan(node)) return false;
  if (const auto* scan = std::get_if<planner::MappedScan>(&node.node)) return scan->path != planner::MappedScan::Path::kOrder;
  if (const auto* filter = std::get_if<planner::PhysicalFilter>(&node.node)) return !waits(filter->condition);
  if (const auto* project = std::get_if<planner::PhysicalProject>(&node.node)) return std::ranges::none_of(project->expressions, waits);
  const auto is_any_of = [&]<class... Nodes>(std::variant<Nodes...>*) { return (std::holds_alternative<Nodes>(node.node) || ...); };
  using Others = std::variant<planner::FullScan, planner::OrderedScan, planner::KeyLookup, planner::UniqueLookup, planner::SetScan, planner::IndexCount, planner::IndexKeys, planner::LookupJoin,
                              planner::MappedJoin, planner::MappedCount, planner::PhysicalValues, planner::PhysicalAggregate, planner::PhysicalSort,
                              planner::PhysicalLimit, planner::PhysicalDistinct, planner::PhysicalWindow, planner::PhysicalApply, planner::HashJoin,
                              planner::NestedLoopJoin>;
  return is_any_of(static_cast<Others*>(nullptr));
}

bool look_up(const planner::PhysicalNode& node) {
  const std::vector<planner::PhysicalPlan> inputs = planner::inputs_of(node);
  return looks_up(node) && std::ranges::all_of(inputs, [](const planner::PhysicalPlan& input) { return look_up(*input); });
}

}  // namespace

CorrelatedSubquery::CorrelatedSubquery(const planner::PhysicalApply& plan, ExecutionContext& context)
    : plan_(plan),
      context_(context),
      repeatable_(!is_volatile(*plan.subquery)),
      keeps_run_(begins_anew(*plan.subquery, context)),
      runs_together_(repeatable_ && !plan.correlations.empty() && look_up(*plan.subquery)) {
  std::vector<sql::Datum>& parameters = context.evaluation().parameters;
  for (const auto& correlation : plan.correlations) {
    if (correlation.slot >= parameters.size()) parameters.resize(correlation.slot + 1);
  }
}

void CorrelatedSubquery::start(const sql::Batch& batch) {
  values_.clear();
  for (const auto& correlation : plan_.correlations) values_.push_back(decoded(batch.columns[correlation.position]));
}

void CorrelatedSubquery::write_values(ExecutionContext& context, std::size_t row) const {
  std::vector<sql::Datum>& parameters = context.evaluation().parameters;
  for (std::size_t i = 0; i < values_.size(); ++i) parameters[plan_.correlations[i].slot] = values_[i]->datum(row);
}

asio::awaitable<std::vector<std::optional<CorrelatedSubquery::Rows>>> CorrelatedSubquery::run_together(std::span<const RowNumber> rows, std::size_t most_rows,
                                                                                                      bool only_first) {
  std::vector<std::optional<Rows>> results(rows.size());
  while (contexts_.size() < rows.size()) {
    contexts_.push_back(std::make_unique<ExecutionContext>(context_));
    contexts_.back()->runs_together = true;
    contexts_.back()->limits.set_members = std::min(contexts_.back()->limits.set_members, kMostMembers);
  }
  std::vector<asio::awaitable<void>> runs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    contexts_[i]->evaluation().parameters = context_.evaluation().parameters;
    write_values(*contexts_[i], rows[i]);
    runs.push_back(run(*contexts_[i], most_rows, only_first, results[i]));
  }
  co_await run_side_by_side(std::move(runs));
  for (std::size_t i = 0; i < rows.size(); ++i) context_.take_notes(*contexts_[i]);
  co_return results;
}

asio::awaitable<void> CorrelatedSubquery::run(ExecutionContext& context, std::size_t most_rows, bool only_first, std::optional<Rows>& result) const {
  try {
    const OperatorPtr run = context.make_operator(*plan_.subquery);
    Rows batches;
    std::size_t count = 0;
    while (std::optional<sql::Batch> batch = co_await run->next()) {
      count += batch->rows;
      batches.push_back(std::move(*batch));
      if (only_first) break;
      if (count > most_rows) co_return;
    }
    result = std::move(batches);
  } catch (const AskAlone&) {
  } catch (const sql::SqlError& error) {  // thrown again when the row is asked alone, behind the rows before it
    if (error.sqlstate() == sqlstate::kQueryCanceled) throw;
  }
}

OperatorPtr CorrelatedSubquery::open(std::size_t row) {
  write_values(context_, row);
  return run_ ? std::move(run_) : context_.make_operator(*plan_.subquery);
}

void CorrelatedSubquery::close(OperatorPtr run) {
  if (keeps_run_) run_ = std::move(run);
}

bool begins_anew(const planner::PhysicalNode& node, const ExecutionContext& context) {
  if (context.statistics != nullptr) return false;
  const planner::PhysicalNode& below = planner::below_row_wise(node);
  const auto* aggregate = std::get_if<planner::PhysicalAggregate>(&below.node);
  if (aggregate != nullptr && aggregate->scalar) return begins_anew(*aggregate->input, context);
  const auto* functions = std::get_if<planner::PhysicalFunctionScan>(&below.node);
  if (functions != nullptr) {
    return std::ranges::all_of(functions->calls, [](const planner::TableFunctionCall& call) {
      return call.function == nullptr || call.function->open != nullptr || call.function->open_record != nullptr;
    });
  }
  return std::holds_alternative<planner::PhysicalSharedScan>(below.node);
}

namespace {

template <class Bits, class Float>
sql::ColumnPtr bits_of(const sql::Column& column, sql::Type type) {
  std::vector<Bits> bits(column.size());
  std::vector<std::uint8_t> nulls;
  if (column.has_nulls()) nulls.resize(column.size());
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (column.is_null(row)) {
      nulls[row] = 1;
    } else {
      bits[row] = std::bit_cast<Bits>(column.get<Float>(row));
    }
  }
  return std::make_shared<const sql::Column>(sql::Column::from_values(type, std::move(bits), std::move(nulls)));
}

}  // namespace

std::vector<sql::Type> identity_types(const std::vector<sql::Type>& types) {
  std::vector<sql::Type> result;
  for (const sql::Type type : types) {
    switch (type.oid) {
      case sql::oid::kFloat4:
        result.push_back(sql::kInt4);
        break;
      case sql::oid::kFloat8:
        result.push_back(sql::kInt8);
        break;
      case sql::oid::kNumeric:
      case sql::oid::kInterval:
      case sql::oid::kBpchar:
        result.push_back(sql::kText);
        break;
      default:
        result.push_back(type);
    }
  }
  return result;
}

std::vector<sql::ColumnPtr> identity_columns(const std::vector<sql::ColumnPtr>& columns,
                                             const sql::EvaluationContext& context) {
  std::vector<sql::ColumnPtr> result;
  for (const sql::ColumnPtr& column : columns) {
    switch (column->type().oid) {
      case sql::oid::kFloat4:
        result.push_back(bits_of<std::int32_t, float>(*column, sql::kInt4));
        break;
      case sql::oid::kFloat8:
        result.push_back(bits_of<std::int64_t, double>(*column, sql::kInt8));
        break;
      case sql::oid::kNumeric:
      case sql::oid::kInterval:
        result.push_back(sql::convert_through_text(column, sql::kText, context));
        break;
      case sql::oid::kBpchar:
        result.push_back(std::make_shared<const sql::Column>(column->retyped(sql::kText)));
        break;
      default:
        result.push_back(column);
    }
  }
  return result;
}

}  // namespace redquel::executor
