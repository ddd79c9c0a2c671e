#include "planner/rules/date_comparison.h"

#include <limits>
#include <string_view>

#include "sql/functions/resolve.h"
#include "sql/types/datetime.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// The operator with its sides exchanged.
std::string_view flipped(std::string_view name) {
  if (name == "<") return ">";
  if (name == "<=") return ">=";
  if (name == ">") return "<";
  return name == ">=" ? "<=" : name;
}

}  // namespace

ExpressionPtr with_date_comparison(const ExpressionPtr& condition) {
  const auto* call = std::get_if<sql::FunctionCall>(&condition->node);
  if (call == nullptr || call->arguments.size() != 2) return condition;
  std::string_view name = call->function->name;
  const bool is_equality = name == "=" || name == "<>", is_order = name == "<" || name == "<=" || name == ">" || name == ">=";
  if (!is_equality && !is_order) return condition;
  const bool is_flipped = call->arguments[1]->type.oid == sql::oid::kDate;
  const ExpressionPtr &date = call->arguments[is_flipped ? 1 : 0], &other = call->arguments[is_flipped ? 0 : 1];
  const auto* constant = std::get_if<sql::Constant>(&other->node);
  if (date->type.oid != sql::oid::kDate || other->type.oid != sql::oid::kTimestamp || constant == nullptr) return condition;
  const auto* timestamp = std::get_if<std::int64_t>(&constant->value);
  const bool is_finite = timestamp != nullptr && *timestamp >= sql::kMinTimestamp && *timestamp < sql::kEndTimestamp;
  if (!is_finite) return condition;
  if (is_flipped) name = flipped(name);
  const std::int64_t rest = (*timestamp % sql::kMicrosecondsPerDay + sql::kMicrosecondsPerDay) % sql::kMicrosecondsPerDay;
  if (rest != 0) {  // within a day, which begins before and ends after it
    if (is_equality) return condition;
    name = name.starts_with('<') ? "<=" : ">";
  }
  const auto day = static_cast<std::int32_t>((*timestamp - rest) / sql::kMicrosecondsPerDay);
  const sql::ResolvedFunction comparison = sql::resolve_operator(name, sql::kDate, sql::kDate);
  return sql::make_expression(comparison.result, sql::FunctionCall{comparison.function, {date, sql::make_constant(sql::kDate, day)}});
}

}  // namespace redquel::planner
