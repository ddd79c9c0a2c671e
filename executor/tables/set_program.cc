#include "executor/tables/set_program.h"

#include <algorithm>

#include "executor/tables/key_values.h"
#include "executor/tables/score_range.h"
#include "planner/access/ordered_source.h"

namespace redquel::executor {

using Kind = planner::SetExpression::Kind;

std::optional<std::string> evaluate_set_key(const planner::SetExpression& set, const sql::TableDef& table,
                                            const sql::EvaluationContext& context) {
  sql::TableKeys keys(table);
  if (set.kind == Kind::kNullSet) return keys.null_set(set.columns[0]);
  auto values = evaluate_key(table, set.columns, set.values, context);
  if (!values) return {};
  return keys.value_set(set.columns, *values);
}

namespace {

std::optional<EvaluatedSets> evaluate_leaf(const planner::SetExpression& range, const sql::TableDef& table,
                                           const sql::EvaluationContext& context) {
  const planner::OrderedSource source = *planner::ordered_source(table, range.columns[0]);
  const std::optional<ZsetRange> ends = evaluate_range(table, source, range.columns[0], range.lower, range.upper, context);
  if (!ends) return {};
  return EvaluatedSets{range.kind, source.key, ends->low, ends->high, {}};
}

bool is_same_leaf(const EvaluatedSets& a, const EvaluatedSets& b) {
  return a.is_leaf() && b.is_leaf() && a.key == b.key && a.low == b.low && a.high == b.high;
}

}  // namespace

std::optional<EvaluatedSets> evaluate_sets(const planner::SetExpression& sets, const sql::TableDef& table,
                                           const sql::EvaluationContext& context) {
  if (sets.kind == Kind::kRange) return evaluate_leaf(sets, table, context);
  EvaluatedSets result;
  result.kind = sets.kind;
  if (sets.kind == Kind::kSet || sets.kind == Kind::kNullSet) {
    auto key = evaluate_set_key(sets, table, context);
    if (!key) return {};
    result.key = std::move(*key);
    return result;
  }
  for (std::size_t i = 0; i < sets.operands.size(); ++i) {
    auto operand = evaluate_sets(sets.operands[i], table, context);
    if (operand) {
      bool repeated = (sets.kind != Kind::kDifference || i > 1) &&
                      std::any_of(result.operands.begin() + (sets.kind == Kind::kDifference ? 1 : 0), result.operands.end(),
                                  [&](const EvaluatedSets& other) { return is_same_leaf(other, *operand); });
      if (!repeated) result.operands.push_back(std::move(*operand));
    } else if (sets.kind == Kind::kIntersection || (sets.kind == Kind::kDifference && i == 0)) {
      return {};
    }
  }
  if (result.operands.empty()) return {};
  if (result.operands.size() == 1) {
    EvaluatedSets only = std::move(result.operands[0]);
    return only;
  }
  return result;
}

namespace {

void append_tokens(const EvaluatedSets& sets, SetProgram& program) {
  if (sets.is_leaf()) {
    program.keys.push_back(sets.key);
    if (sets.kind == Kind::kRange) {
      program.tokens.insert(program.tokens.end(), {"z", sets.low, sets.high});
    } else {
      program.tokens.push_back("s");
    }
    return;
  }
  for (const EvaluatedSets& operand : sets.operands) append_tokens(operand, program);
  char letter = sets.kind == Kind::kIntersection ? 'i' : sets.kind == Kind::kUnion ? 'u' : 'd';
  program.tokens.push_back(letter + std::to_string(sets.operands.size()));
}

}  // namespace

SetProgram to_program(const EvaluatedSets& sets) {
  SetProgram program;
  append_tokens(sets, program);
  return program;
}

}  // namespace redquel::executor
