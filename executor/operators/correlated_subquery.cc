#include "executor/operators/correlated_subquery.h"

#include <algorithm>
#include <bit>

#include "executor/operators/plan_volatility.h"
#include "executor/runtime/row_store.h"
#include "sql/expressions/convert_column.h"

namespace redquel::executor {

CorrelatedSubquery::CorrelatedSubquery(const planner::PhysicalApply& plan, ExecutionContext& context)
    : plan_(plan), context_(context), repeatable_(!is_volatile(*plan.subquery)), keeps_run_(begins_anew(*plan.subquery, context)) {
  std::vector<sql::Datum>& parameters = context.evaluation().parameters;
  for (const auto& correlation : plan.correlations) {
    if (correlation.slot >= parameters.size()) parameters.resize(correlation.slot + 1);
  }
}

void CorrelatedSubquery::start(const sql::Batch& batch) {
  values_.clear();
  for (const auto& correlation : plan_.correlations) values_.push_back(decoded(batch.columns[correlation.position]));
}

OperatorPtr CorrelatedSubquery::open(std::size_t row) {
  std::vector<sql::Datum>& parameters = context_.evaluation().parameters;
  for (std::size_t i = 0; i < values_.size(); ++i) parameters[plan_.correlations[i].slot] = values_[i]->datum(row);
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
