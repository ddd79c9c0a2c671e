#include "planner/access/set_algebra.h"

#include <algorithm>

#include "planner/access/ordered_source.h"
#include "sql/catalog/member_form.h"
#include "sql/interrupts.h"

namespace redquel::planner {

using Kind = SetExpression::Kind;
using ColumnKind = ColumnCondition::Kind;

namespace {

SetExpression set_of(std::vector<std::int16_t> columns, std::vector<sql::ExpressionPtr> values) {
  return {Kind::kSet, std::move(columns), std::move(values), {}};
}

/// Returns true for a constant that is not NULL.
bool is_value(const sql::Expression& expression) {
  const auto* constant = std::get_if<sql::Constant>(&expression.node);
  return constant && !sql::is_null(constant->value);
}

SetExpression combine(Kind kind, std::vector<SetExpression> operands) {
  if (operands.size() == 1) return std::move(operands.front());
  SetExpression result{kind, {}, {}, {}};
  for (SetExpression& operand : operands) {
    if (operand.kind == kind && kind != Kind::kDifference) {
      std::move(operand.operands.begin(), operand.operands.end(), std::back_inserter(result.operands));
    } else {
      result.operands.push_back(std::move(operand));
    }
  }
  return result;
}

}  // namespace

bool SetAlgebra::has(sql::Structure::Kind kind, std::int16_t column) const {
  return std::any_of(structures_.begin(), structures_.end(), [&](const sql::Structure& s) {
    return s.readable && s.kind == kind && s.columns == std::vector<std::int16_t>{column};
  });
}

bool SetAlgebra::nullable(std::int16_t column) const {
  const sql::ColumnDef* definition = table_.find_column(column);
  bool in_key = std::find(table_.primary_key.begin(), table_.primary_key.end(), column) != table_.primary_key.end();
  return !definition->not_null && !in_key;
}

std::optional<SetExpression> SetAlgebra::null_set(std::int16_t column) const {
  if (!has(sql::Structure::Kind::kNulls, column)) return {};
  return SetExpression{Kind::kNullSet, {column}, {}, {}};
}

std::optional<SetExpression> SetAlgebra::true_rows(const Condition& condition, Precision precision) const {
  const bool exact = precision != Precision::kSuperset;
  switch (condition.kind) {
    case Condition::Kind::kOpaque:
    case Condition::Kind::kNotTrue:
      return {};
    case Condition::Kind::kAnd:
      return intersection(condition.operands, precision);
    case Condition::Kind::kOr: {
      std::vector<SetExpression> operands;
      for (const Condition& operand : condition.operands) {
        auto sets = true_rows(operand, precision);
        if (!sets) return {};
        operands.push_back(std::move(*sets));
      }
      return combine(Kind::kUnion, std::move(operands));
    }
    case Condition::Kind::kColumn:
      break;
  }
  const ColumnCondition& column = condition.column;
  if (column.kind == ColumnKind::kIsNull) return null_set(column.column);
  if (column.kind == ColumnKind::kEntries) {
    if ((exact && !column.exact) || !has(column.entries->kind->structure(), column.column)) return {};
    return SetExpression{.kind = Kind::kEntries, .columns = {column.column}, .values = column.values, .operands = {}, .entries = column.entries};
  }
  if (column.kind != ColumnKind::kEqual && column.kind != ColumnKind::kIn) {
    std::vector<bool> used(1, false);
    return range({condition}, 0, exact, used);
  }
  std::vector<SetExpression> operands;
  if (!has(sql::Structure::Kind::kSets, column.column)) {
    for (const sql::ExpressionPtr& value : column.values) {
      const Condition equal{.kind = Condition::Kind::kColumn,
                            .operands = {},
                            .column = {ColumnKind::kEqual, column.column, {value}, {}, column.exact}};
      std::vector<bool> used(1, false);
      sql::note_analysis();
      auto point = range({equal}, 0, exact, used);
      if (!point) return {};
      operands.push_back(std::move(*point));
    }
    if (operands.empty()) return {};
    return combine(Kind::kUnion, std::move(operands));
  }
  for (const sql::ExpressionPtr& value : column.values) operands.push_back(set_of({column.column}, {value}));
  if (operands.empty()) return {};
  return combine(Kind::kUnion, std::move(operands));
}

std::optional<SetExpression> SetAlgebra::untrue_rows(const Condition& condition, Precision precision) const {
  const bool exact = precision != Precision::kSuperset;
  switch (condition.kind) {
    case Condition::Kind::kOpaque:
      return {};
    case Condition::Kind::kNotTrue:
      return true_rows(condition.operands[0], Precision::kExactWithNulls);  // what is removed must be exact
    case Condition::Kind::kAnd:
    case Condition::Kind::kOr: {
      // Not true: one operand of an AND is untrue; all operands of an OR are.
      std::vector<SetExpression> operands;
      for (const Condition& operand : condition.operands) {
        auto sets = untrue_rows(operand, precision);
        // Too few rows may be removed from a superset (an untrue operand of an AND that is not known), never too many.
        if (!sets && (exact || condition.kind == Condition::Kind::kOr)) return {};
        if (sets) operands.push_back(std::move(*sets));
      }
      if (operands.empty()) return {};
      return combine(condition.kind == Condition::Kind::kAnd ? Kind::kUnion : Kind::kIntersection, std::move(operands));
    }
    case Condition::Kind::kColumn:
      break;
  }
  const ColumnCondition& column = condition.column;
  if (column.kind == ColumnKind::kIsNotNull) return null_set(column.column);
  if (column.kind != ColumnKind::kNotEqual || !has(sql::Structure::Kind::kSets, column.column)) return {};
  // `column <> NULL` is untrue for all rows.
  if (precision == Precision::kExactWithNulls && !is_value(*column.values[0])) return {};
  std::vector<SetExpression> operands{set_of({column.column}, column.values)};
  if (exact && nullable(column.column)) {
    auto nulls = null_set(column.column);
    if (!nulls) return {};
    operands.push_back(std::move(*nulls));
  }
  return combine(Kind::kUnion, std::move(operands));
}

std::vector<SetExpression> SetAlgebra::equality_sets(const std::vector<Condition>& conditions, std::vector<bool>& used) const {
  std::vector<SetExpression> sets;
  std::vector<const sql::Structure*> composites;
  for (const sql::Structure& structure : structures_) {
    if (structure.kind == sql::Structure::Kind::kSets && structure.readable && structure.columns.size() > 1) {
      composites.push_back(&structure);
    }
  }
  std::stable_sort(composites.begin(), composites.end(),
                   [](const auto* a, const auto* b) { return a->columns.size() > b->columns.size(); });
  for (const sql::Structure* structure : composites) {
    std::vector<std::size_t> matched;
    for (std::int16_t number : structure->columns) {
      for (std::size_t i = 0; i < conditions.size(); ++i) {
        if (!used[i] && conditions[i].kind == Condition::Kind::kColumn && conditions[i].column.kind == ColumnKind::kEqual &&
            conditions[i].column.column == number) {
          matched.push_back(i);
          break;
        }
      }
    }
    if (matched.size() != structure->columns.size()) continue;
    SetExpression set = set_of(structure->columns, {});
    for (std::size_t i : matched) {
      set.values.push_back(conditions[i].column.values[0]);
      used[i] = true;
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

std::optional<SetExpression> SetAlgebra::range(const std::vector<Condition>& conditions, std::size_t first, bool exact,
                                               std::vector<bool>& used) const {
  if (conditions[first].kind != Condition::Kind::kColumn) return {};
  const std::int16_t number = conditions[first].column.column;
  const auto source = ordered_source(table_, number);
  if (!source || source->encoding != OrderedSource::Encoding::kScore || (exact && !source->exact)) return {};
  const sql::Oid type = table_.find_column(number)->type.oid;
  SetExpression result{Kind::kRange, {number}, {}, {}};
  std::vector<bool> taken = used;  // nothing is, unless the first condition is
  for (std::size_t i = first; i < conditions.size(); ++i) {
    const ColumnCondition& column = conditions[i].column;
    if (taken[i] || conditions[i].kind != Condition::Kind::kColumn || column.column != number) continue;
    const bool is_equality = column.kind == ColumnKind::kEqual && !has(sql::Structure::Kind::kSets, number);
    const bool is_lower = is_equality || column.kind == ColumnKind::kGreater || column.kind == ColumnKind::kGreaterEqual;
    const bool is_upper = is_equality || column.kind == ColumnKind::kLess || column.kind == ColumnKind::kLessEqual;
    if ((!is_lower && !is_upper) || (is_lower && result.lower) || (is_upper && result.upper)) continue;
    if (exact && (!column.exact || column.values[0]->type.oid != type)) continue;
    const RangeBound bound{column.values[0], column.kind != ColumnKind::kLess && column.kind != ColumnKind::kGreater};
    if (is_lower) result.lower = bound;
    if (is_upper) result.upper = bound;
    taken[i] = true;
  }
  if (!taken[first]) return {};
  used = std::move(taken);
  return result;
}

bool SetAlgebra::has_short_members(const sql::TableDef& table, const SetExpression& sets) {
  if (sets.kind == Kind::kSet && sql::omitted_parts(table, sets.columns).any()) return true;
  return std::ranges::any_of(sets.operands, [&](const SetExpression& operand) { return has_short_members(table, operand); });
}

bool SetAlgebra::is_worthwhile(const SetExpression& sets) {
  switch (sets.kind) {
    case Kind::kRange: return false;
    case Kind::kIntersection: return std::ranges::any_of(sets.operands, is_worthwhile);
    case Kind::kDifference: return is_worthwhile(sets.operands[0]);
    default: return true;
  }
}

std::optional<SetExpression> SetAlgebra::intersection(const std::vector<Condition>& conditions, Precision precision) const {
  const bool exact = precision != Precision::kSuperset;
  std::vector<bool> used(conditions.size(), false);
  std::vector<SetExpression> positive = equality_sets(conditions, used);
  std::vector<SetExpression> removed;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (used[i]) continue;
    if (auto bounds = range(conditions, i, exact, used)) {
      positive.push_back(std::move(*bounds));
    } else if (auto sets = true_rows(conditions[i], precision)) {
      positive.push_back(std::move(*sets));
    } else if (auto untrue = untrue_rows(conditions[i], precision)) {
      removed.push_back(std::move(*untrue));
    } else if (exact) {
      return {};
    }
  }
  if (positive.empty()) return {};
  SetExpression result = combine(Kind::kIntersection, std::move(positive));
  if (removed.empty()) return result;
  std::vector<SetExpression> operands{std::move(result)};
  for (SetExpression& sets : removed) {
    // a − (b ∪ c) is a − b − c: one SDIFF
    if (sets.kind == Kind::kUnion) {
      std::move(sets.operands.begin(), sets.operands.end(), std::back_inserter(operands));
    } else {
      operands.push_back(std::move(sets));
    }
  }
  return combine(Kind::kDifference, std::move(operands));
}

}  // namespace redquel::planner
