#include "executor/tables/set_program.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "executor/tables/key_values.h"
#include "executor/tables/score_range.h"
#include "planner/access/ordered_source.h"
#include "sql/expressions/evaluate.h"

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

bool has_null_value(const planner::SetExpression& sets, const sql::EvaluationContext& context) {
  const auto is_null = [&](const sql::ExpressionPtr& value) { return sql::is_null(sql::evaluate_scalar(*value, context)); };
  const auto has_null = [&](const planner::SetExpression& operand) { return has_null_value(operand, context); };
  return std::ranges::any_of(sets.values, is_null) || std::ranges::any_of(sets.operands, has_null);
}

bool removes_null(const planner::SetExpression& sets, const sql::EvaluationContext& context) {
  for (std::size_t i = 0; i < sets.operands.size(); ++i) {
    const bool is_removed = sets.kind == Kind::kDifference && i > 0;
    if (is_removed ? has_null_value(sets.operands[i], context) : removes_null(sets.operands[i], context)) return true;
  }
  return false;
}

namespace {

std::optional<EvaluatedSets> evaluate_leaf(const planner::SetExpression& range, const sql::TableDef& table,
                                           const sql::EvaluationContext& context) {
  const planner::OrderedSource source = *planner::ordered_source(table, range.columns[0]);
  const std::optional<ZsetRange> ends = evaluate_range(table, source, range.columns[0], range.lower, range.upper, context);
  if (!ends) return {};
  EvaluatedSets leaf;
  leaf.kind = range.kind;
  leaf.key = source.key;
  leaf.low = ends->low;
  leaf.high = ends->high;
  return leaf;
}

/// The sets of the entries that the value of a condition has; the zset of all rows where it has none that would tell rows apart.
std::optional<EvaluatedSets> sets_of(const sql::EntryQuery& query, const sql::TableKeys& keys, std::string_view kind, std::int16_t column) {
  EvaluatedSets sets;
  switch (query.kind) {
    case sql::EntryQuery::Kind::kNothing:
      return {};
    case sql::EntryQuery::Kind::kEverything:
      sets.kind = Kind::kRange;
      sets.key = keys.all_rows();
      sets.low = "-inf";
      sets.high = "+inf";
      return sets;
    case sql::EntryQuery::Kind::kEntry:
      sets.key = keys.rows_with(kind, column, query.entry);
      return sets;
    case sql::EntryQuery::Kind::kAll:
    case sql::EntryQuery::Kind::kAny:
      break;
  }
  sets.kind = query.kind == sql::EntryQuery::Kind::kAll ? Kind::kIntersection : Kind::kUnion;
  for (const sql::EntryQuery& operand : query.operands) sets.operands.push_back(*sets_of(operand, keys, kind, column));
  return sets;
}

std::optional<EvaluatedSets> evaluate_entries(const planner::SetExpression& sets, const sql::TableDef& table, const sql::EvaluationContext& context) {
  const sql::Datum value = sql::evaluate_scalar(*sets.values[0], context);
  if (sql::is_null(value)) return {};
  const sql::EntryKind& kind = *sets.entries->kind;
  return sets_of(kind.query(sets.entries->operation, sets.values[0]->type, value), sql::TableKeys(table), kind.segment(), sets.columns[0]);
}

bool is_same_leaf(const EvaluatedSets& a, const EvaluatedSets& b) {
  return a.is_leaf() && b.is_leaf() && a.key == b.key && a.low == b.low && a.high == b.high;
}

/// `sets` where members of the leaf `removed` do not count, as far as leaving out operands does it; nullopt: nothing is left.
std::optional<EvaluatedSets> without(EvaluatedSets sets, const EvaluatedSets& removed) {
  if (sets.is_leaf()) return is_same_leaf(sets, removed) ? std::nullopt : std::optional(std::move(sets));
  std::vector<EvaluatedSets> kept;
  for (std::size_t i = 0; i < sets.operands.size(); ++i) {
    if (sets.kind == Kind::kDifference && i > 0) {
      kept.push_back(std::move(sets.operands[i]));
    } else if (auto operand = without(std::move(sets.operands[i]), removed)) {
      kept.push_back(std::move(*operand));
    } else if (sets.kind != Kind::kUnion) {
      return {};
    }
  }
  if (kept.empty()) return {};
  if (kept.size() == 1) {
    EvaluatedSets only = std::move(kept[0]);
    return only;
  }
  sets.operands = std::move(kept);
  return sets;
}

/// Returns true if they certainly have no common member. A row has one value, so sets of other values of the same columns have none.
bool are_disjoint(const EvaluatedSets& sets, const EvaluatedSets& leaf) {
  if (sets.is_leaf()) return !sets.columns.empty() && sets.columns == leaf.columns && sets.key != leaf.key;
  const auto is_disjoint = [&](const EvaluatedSets& operand) { return are_disjoint(operand, leaf); };
  if (sets.kind == Kind::kUnion) return std::ranges::all_of(sets.operands, is_disjoint);
  if (sets.kind == Kind::kDifference) return is_disjoint(sets.operands[0]);
  return std::ranges::any_of(sets.operands, is_disjoint);
}

/// a IN (1, 2, 3) AND a <> 2 is a IN (1, 3).
std::optional<EvaluatedSets> simplify_difference(EvaluatedSets sets) {
  std::vector<EvaluatedSets> removed(std::make_move_iterator(sets.operands.begin() + 1), std::make_move_iterator(sets.operands.end()));
  std::optional<EvaluatedSets> base = std::move(sets.operands[0]);
  std::vector<EvaluatedSets> left;
  for (EvaluatedSets& leaf : removed) {
    if (leaf.is_leaf()) base = without(std::move(*base), leaf);
    if (!base) return {};
    if (!leaf.is_leaf() || !are_disjoint(*base, leaf)) left.push_back(std::move(leaf));
  }
  if (left.empty()) return base;
  sets.operands.clear();
  sets.operands.push_back(std::move(*base));
  std::move(left.begin(), left.end(), std::back_inserter(sets.operands));
  return sets;
}

}  // namespace

std::optional<EvaluatedSets> evaluate_sets(const planner::SetExpression& sets, const sql::TableDef& table,
                                           const sql::EvaluationContext& context, bool whole_members) {
  if (sets.kind == Kind::kRange) return evaluate_leaf(sets, table, context);
  if (sets.kind == Kind::kEntries) return evaluate_entries(sets, table, context);
  EvaluatedSets result;
  result.kind = sets.kind;
  if (sets.kind == Kind::kSet || sets.kind == Kind::kNullSet) {
    if (sets.kind == Kind::kNullSet) {
      result.key = sql::TableKeys(table).null_set(sets.columns[0]);
    } else {
      const auto values = evaluate_key(table, sets.columns, sets.values, context);
      if (!values) return {};
      result.key = sql::TableKeys(table).value_set(sets.columns, *values);
      if (whole_members) result.ends = sql::member_ends(table, sets.columns, *values);
    }
    if (whole_members) result.columns = sets.columns;
    return result;
  }
  std::set<std::tuple<std::string, std::string, std::string>> leaves;
  for (std::size_t i = 0; i < sets.operands.size(); ++i) {
    auto operand = evaluate_sets(sets.operands[i], table, context, whole_members);
    if (operand) {
      const bool is_minuend = sets.kind == Kind::kDifference && i == 0;
      const bool repeated = !is_minuend && operand->is_leaf() && !leaves.emplace(operand->key, operand->low, operand->high).second;
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
  if (result.kind == Kind::kDifference) return simplify_difference(std::move(result));
  return result;
}

namespace {

void append_tokens(const EvaluatedSets& sets, SetProgram& program) {
  if (sets.is_leaf()) {
    program.keys.push_back(sets.key);
    if (sets.kind == Kind::kRange) {
      program.tokens.insert(program.tokens.end(), {"z", sets.low, sets.high});
    } else if (sets.ends.any()) {
      program.tokens.insert(program.tokens.end(), {"c", sets.ends.head, sets.ends.tail});
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
