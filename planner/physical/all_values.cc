#include "planner/physical/all_values.h"

#include <limits>

#include "planner/physical/physical_planner.h"
#include "planner/tree/logical_walk.h"
#include "sql/functions/function.h"
#include "sql/functions/resolve.h"
#include "sql/types/compare.h"

namespace redquel::planner {

namespace {

std::optional<std::int64_t> integer_of(const sql::Expression& value) {
  const auto* constant = std::get_if<sql::Constant>(&value.node);
  if (constant == nullptr) return std::nullopt;
  if (const auto* wide = std::get_if<std::int64_t>(&constant->value)) return *wide;
  if (const auto* narrow = std::get_if<std::int32_t>(&constant->value)) return *narrow;
  return std::nullopt;
}

bool is_column(const sql::Expression& expression, ColumnId id) {
  const auto* column = std::get_if<sql::ColumnRef>(&expression.node);
  return column != nullptr && column->column == id;
}

sql::ExpressionPtr not_equal(const sql::ExpressionPtr& left, const sql::ExpressionPtr& right) {
  const sql::ExpressionPtr equal = sql::make_expression(sql::kBool, sql::FunctionCall{&sql::equality_operator(left->type), {left, right}});
  return sql::make_expression(sql::kBool, sql::Logical{sql::Logical::Kind::kNot, {equal}});
}

bool is_count(const AggregateCall& call) { return call.function->name == "count" && !call.filter && call.order_by.empty(); }

/// The scan whose rows these are; null: they are made of several.
const Logical* scan_below(const Logical* rows) {
  while (const auto* filter = std::get_if<LogicalFilter>(&rows->node)) rows = filter->input.get();
  return std::holds_alternative<LogicalScan>(rows->node) ? rows : nullptr;
}

}  // namespace

std::optional<std::int64_t> least_count(const sql::ExpressionPtr& having, ColumnId count) {
  const auto* call = std::get_if<sql::FunctionCall>(&having->node);
  if (call == nullptr || call->arguments.size() != 2) return std::nullopt;
  const std::string_view name = call->function->name;
  for (const bool left : {true, false}) {
    if (!is_column(*call->arguments[left ? 0 : 1], count)) continue;
    const std::optional<std::int64_t> number = integer_of(*call->arguments[left ? 1 : 0]);
    if (!number) continue;
    if (name == "=" || name == (left ? ">=" : "<=")) return number;
    if (name == (left ? ">" : "<") && *number < std::numeric_limits<std::int64_t>::max()) return *number + 1;
  }
  return std::nullopt;
}

std::optional<std::vector<sql::ExpressionPtr>> different_values(const SetExpression& sets) {
  constexpr std::size_t kMostValues = 20;  // that are compared in pairs
  std::vector<sql::ExpressionPtr> conditions;
  if (sets.operands.empty() || sets.operands.size() > kMostValues) return std::nullopt;
  for (std::size_t i = 0; i < sets.operands.size(); ++i) {
    if (sets.operands[i].values.size() != 1) return std::nullopt;
    const sql::ExpressionPtr& value = sets.operands[i].values[0];
    const auto* constant = std::get_if<sql::Constant>(&value->node);
    if ((constant != nullptr && sql::is_null(constant->value)) || sql::is_volatile(*value)) return std::nullopt;
    for (std::size_t j = 0; j < i; ++j) {
      const sql::ExpressionPtr& other = sets.operands[j].values[0];
      if (other->type.oid != value->type.oid) return std::nullopt;
      const auto* known = std::get_if<sql::Constant>(&other->node);
      const bool is_known = constant != nullptr && known != nullptr;
      if (!is_known && sql::equality_operator(value->type).arguments[0] != value->type.oid) return std::nullopt;
      if (!is_known) conditions.push_back(not_equal(other, value));
      else if (sql::compare(value->type, known->value, constant->value) == 0) return std::nullopt;
    }
  }
  return conditions;
}

PhysicalPlan checked_before(PhysicalPlan plan, std::vector<sql::ExpressionPtr> conditions) {
  if (conditions.empty()) return plan;
  auto columns = plan->columns;
  return make_physical(PhysicalFilter{std::move(plan), sql::conjunction(std::move(conditions))}, std::move(columns));
}

bool counts_values(const LogicalAggregate& aggregate, std::int16_t column) {
  if (aggregate.scalar || aggregate.calls.size() != 1 || !is_count(aggregate.calls[0])) return false;
  const AggregateCall& call = aggregate.calls[0];
  if (call.arguments.empty()) return true;
  const auto* argument = std::get_if<sql::ColumnRef>(&call.arguments[0]->node);
  const Logical* rows = scan_below(aggregate.input.get());
  return argument != nullptr && rows != nullptr && number_of(std::get<LogicalScan>(rows->node), rows->columns)(argument->column) == column;
}

bool is_distinct_count(const LogicalAggregate& aggregate) {
  if (!aggregate.scalar || aggregate.calls.size() != 1 || !is_count(aggregate.calls[0])) return false;
  const AggregateCall& call = aggregate.calls[0];
  return call.distinct && call.arguments.size() == 1 && std::holds_alternative<sql::ColumnRef>(call.arguments[0]->node);
}

bool is_plain_count(const LogicalAggregate& aggregate) {
  return aggregate.scalar && aggregate.calls.size() == 1 && is_count(aggregate.calls[0]) && aggregate.calls[0].arguments.empty();
}

}  // namespace redquel::planner
