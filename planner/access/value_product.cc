#include "planner/access/value_product.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// The shorter of what is found already and what the condition says of the column.
void take_shorter(const Condition& condition, std::int16_t column, const std::vector<ExpressionPtr>*& values) {
  if (condition.kind != Condition::Kind::kColumn || condition.column.column != column) return;
  const ColumnCondition::Kind kind = condition.column.kind;
  if (kind != ColumnCondition::Kind::kEqual && kind != ColumnCondition::Kind::kIn) return;
  if (values == nullptr || condition.column.values.size() < values->size()) values = &condition.column.values;
}

}  // namespace

const std::vector<ExpressionPtr>* equal_values(const Condition& condition, std::int16_t column) {
  const std::vector<ExpressionPtr>* values = nullptr;
  take_shorter(condition, column, values);
  if (condition.kind != Condition::Kind::kAnd) return values;
  for (const Condition& operand : condition.operands) take_shorter(operand, column, values);
  return values;
}

std::optional<std::vector<std::vector<ExpressionPtr>>> value_product(const Condition& condition, const std::vector<std::int16_t>& columns,
                                                                     std::size_t most) {
  std::vector<std::vector<ExpressionPtr>> product{{}};
  for (const std::int16_t column : columns) {
    const std::vector<ExpressionPtr>* values = equal_values(condition, column);
    if (values == nullptr || product.size() * values->size() > most) return std::nullopt;
    std::vector<std::vector<ExpressionPtr>> longer;
    for (const auto& head : product) {
      for (const ExpressionPtr& value : *values) {
        longer.push_back(head);
        longer.back().push_back(value);
      }
    }
    product = std::move(longer);
  }
  return product;
}

}  // namespace redquel::planner
