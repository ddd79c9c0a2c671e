#include "planner/physical/index_only.h"

#include <algorithm>

#include "planner/access/ordered_source.h"
#include "planner/access/set_algebra.h"
#include "sql/types/index_value.h"

namespace redquel::planner {

bool tells_columns(const sql::TableDef& table, std::span<const std::int16_t> numbers, std::int16_t ordered) {
  const sql::TableKeys keys(table);
  if (ordered != 0) {
    const auto source = ordered_source(table, ordered);
    if (!source || source->encoding == OrderedSource::Encoding::kMember) return false;
  }
  return std::ranges::all_of(numbers, [&](std::int16_t number) {
    if (number == 0) return true;  // the member of a row without a primary key
    if (table.in_primary_key(number)) return !keys.stores_key_column(*table.find_column(number));
    return number == ordered && number > 0 && scores_are_values(table, number);
  });
}

namespace {

/// The values of a set, or of a union of sets, of the column; nullopt: it is something else.
std::optional<std::vector<sql::ExpressionPtr>> values_of(const SetExpression& sets, std::int16_t column) {
  using Kind = SetExpression::Kind;
  if (sets.kind == Kind::kSet) {
    if (sets.columns != std::vector<std::int16_t>{column}) return {};
    return sets.values;
  }
  if (sets.kind != Kind::kUnion) return {};
  std::vector<sql::ExpressionPtr> values;
  for (const SetExpression& operand : sets.operands) {
    if (operand.kind != Kind::kSet) return {};
    auto one = values_of(operand, column);
    if (!one) return {};
    values.push_back(std::move((*one)[0]));
  }
  return values;
}

/// Returns true if a condition bounds the column, so that a walk along its zset is short.
bool is_bounded(const Condition& condition, std::int16_t column) {
  std::vector<Condition> single;
  return std::ranges::any_of(conjuncts(condition, single), [&](const Condition& conjunct) {
    using Kind = ColumnCondition::Kind;
    if (conjunct.kind != Condition::Kind::kColumn || conjunct.column.column != column) return false;
    const Kind kind = conjunct.column.kind;
    return kind != Kind::kNotEqual && kind != Kind::kIsNull && kind != Kind::kIsNotNull;
  });
}

}  // namespace

std::optional<IndexValues> index_values(const sql::TableDef& table, std::int16_t column, const Condition& condition,
                                        const std::vector<sql::ExpressionPtr>& conditions, bool ordered) {
  const SetAlgebra algebra(table);
  if (column <= 0 || table.in_primary_key(column) || !algebra.has(sql::Structure::Kind::kSets, column)) return {};
  if (algebra.has(sql::Structure::Kind::kUnique, column)) return {};  // as many values as rows
  if (!sql::canonical_text_is_output(table.find_column(column)->type)) return {};
  if (ordered && ordered_source(table, column)) return {};
  // Conditions are asked once a value.
  if (std::ranges::any_of(conditions, [](const sql::ExpressionPtr& e) { return sql::is_volatile(*e); })) return {};
  IndexValues result{nullptr, {}, column, {}, nullptr, nullptr};
  if (const auto sets = algebra.superset(condition)) {
    auto values = values_of(*sets, column);
    if (!values) return {};
    result.values = std::move(*values);
  } else if (is_bounded(condition, column) && ordered_source(table, column)) {
    return {};
  }
  return result;
}

}  // namespace redquel::planner
