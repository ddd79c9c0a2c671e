#include "planner/access/index_condition.h"

#include <algorithm>

namespace redquel::planner {

using sql::Expression;
using sql::ExpressionPtr;

bool is_run_time_constant(const Expression& expression) {
  std::vector<std::uint32_t> columns;
  sql::collect_columns(expression, columns);
  return columns.empty() && !sql::is_volatile(expression);
}

bool is_equality(ColumnCondition::Kind kind) {
  using Kind = ColumnCondition::Kind;
  return kind == Kind::kEqual || kind == Kind::kIn || kind == Kind::kIsNull;
}

bool is_range(ColumnCondition::Kind kind) {
  using Kind = ColumnCondition::Kind;
  return kind == Kind::kLess || kind == Kind::kLessEqual || kind == Kind::kGreater || kind == Kind::kGreaterEqual || kind == Kind::kPrefix;
}

namespace {

bool is_text(sql::Oid type) { return type == sql::oid::kText || type == sql::oid::kVarchar; }

/// Returns true if an index of the column's type can be asked with a value of this type, compared by the operator.
bool comparable(sql::Oid column, sql::Oid value) {
  return column == value || (sql::is_integer_type(column) && sql::is_integer_type(value)) || (is_text(column) && (is_text(value) || value == sql::oid::kName));
}

class Analyser {
 public:
  Analyser(const sql::TableDef& table, const ColumnNumber& number, const ExpressionNumber& computed)
      : table_(table), number_(number), computed_(computed) {}

  Condition analyse(const Expression& expression, bool negated) const {
    if (const auto* logical = std::get_if<sql::Logical>(&expression.node)) return analyse_logical(*logical, negated);
    if (const auto* call = std::get_if<sql::FunctionCall>(&expression.node)) return analyse_call(*call, negated);
    if (const auto* list = std::get_if<sql::InListTest>(&expression.node)) return analyse_list(*list, negated);
    if (const auto* test = std::get_if<sql::ArrayTest>(&expression.node)) return analyse_array_test(*test, negated);
    if (const auto* test = std::get_if<sql::NullTest>(&expression.node)) {
      if (auto column = column_of(*test->operand)) {
        bool is_null = test->negated == negated;
        return leaf({is_null ? ColumnCondition::Kind::kIsNull : ColumnCondition::Kind::kIsNotNull, *column, {}, {}, true});
      }
      return {};
    }
    if (const auto* test = std::get_if<sql::BooleanTest>(&expression.node)) return analyse_boolean_test(*test, negated);
    // A boolean column on its own: `WHERE active`.
    if (auto column = column_of(expression); column && expression.type.oid == sql::oid::kBool) {
      return leaf({ColumnCondition::Kind::kEqual, *column, {sql::make_constant(sql::kBool, !negated)}, {}, true});
    }
    return {};
  }

 private:
  static Condition leaf(ColumnCondition column) {
    Condition condition;
    condition.kind = Condition::Kind::kColumn;
    condition.column = std::move(column);
    return condition;
  }

  /// `(condition) IS TRUE` and `(condition) IS NOT TRUE`.
  Condition analyse_boolean_test(const sql::BooleanTest& test, bool negated) const {
    if (test.kind != sql::BooleanTest::Kind::kTrue) return {};
    Condition inner = analyse(*test.operand, false);
    if (test.negated == negated) return inner;
    Condition condition;
    condition.kind = Condition::Kind::kNotTrue;
    condition.operands.push_back(std::move(inner));
    return condition;
  }

  /// `(a, b) > (1, 2)`, which is `a > 1 OR (a = 1 AND …)`, as a >= 1; nullopt where it is no such comparison of rows.
  static std::optional<Condition> leading_bound(const Condition& either) {
    using Kind = ColumnCondition::Kind;
    if (either.operands.size() != 2 || either.operands[0].kind != Condition::Kind::kColumn) return {};
    const ColumnCondition& first = either.operands[0].column;
    if (first.kind != Kind::kLess && first.kind != Kind::kGreater) return {};
    std::vector<Condition> single;
    const auto& tie = conjuncts(either.operands[1], single);
    const bool ties = std::ranges::any_of(tie, [&](const Condition& part) {
      return part.kind == Condition::Kind::kColumn && part.column.kind == Kind::kEqual && part.column.column == first.column &&
             sql::equal(*part.column.values[0], *first.values[0]);
    });
    if (!ties) return {};
    Condition bound = either.operands[0];
    bound.column.kind = first.kind == Kind::kLess ? Kind::kLessEqual : Kind::kGreaterEqual;
    bound.column.exact = false;
    return bound;
  }

  Condition analyse_logical(const sql::Logical& logical, bool negated) const {
    if (logical.kind == sql::Logical::Kind::kNot) return analyse(*logical.operands[0], !negated);
    Condition condition;
    bool is_and = (logical.kind == sql::Logical::Kind::kAnd) != negated;  // De Morgan, which holds for three values too
    condition.kind = is_and ? Condition::Kind::kAnd : Condition::Kind::kOr;
    for (const ExpressionPtr& operand : logical.operands) {
      Condition part = analyse(*operand, negated);
      if (part.kind == condition.kind) {
        std::move(part.operands.begin(), part.operands.end(), std::back_inserter(condition.operands));
      } else {
        condition.operands.push_back(std::move(part));
      }
    }
    if (is_and) return condition;
    if (std::optional<Condition> bound = leading_bound(condition)) return std::move(*bound);
    return merge_equalities(std::move(condition));
  }

  /// `a = 1 OR a = 2` is `a IN (1, 2)`.
  static Condition merge_equalities(Condition condition) {
    std::vector<Condition> merged;
    for (Condition& operand : condition.operands) {
      auto equality = [](const Condition& c) {
        return c.kind == Condition::Kind::kColumn &&
               (c.column.kind == ColumnCondition::Kind::kEqual || c.column.kind == ColumnCondition::Kind::kIn);
      };
      const auto is_same = [&](const Condition& other) {
        return equality(other) && other.column.column == operand.column.column;
      };
      const auto same = equality(operand) ? std::find_if(merged.begin(), merged.end(), is_same) : merged.end();
      if (same == merged.end()) {
        merged.push_back(std::move(operand));
        continue;
      }
      same->column.kind = ColumnCondition::Kind::kIn;
      std::move(operand.column.values.begin(), operand.column.values.end(), std::back_inserter(same->column.values));
    }
    if (merged.size() == 1) return std::move(merged.front());
    condition.operands = std::move(merged);
    return condition;
  }

  Condition analyse_call(const sql::FunctionCall& call, bool negated) const {
    if (call.arguments.size() != 2) return {};
    using Kind = ColumnCondition::Kind;
    struct Comparison {
      std::string_view name;
      Kind kind, flipped, negation, flipped_negation;
    };
    static constexpr Comparison kComparisons[] = {
        {"=", Kind::kEqual, Kind::kEqual, Kind::kNotEqual, Kind::kNotEqual},
        {"<>", Kind::kNotEqual, Kind::kNotEqual, Kind::kEqual, Kind::kEqual},
        {"<", Kind::kLess, Kind::kGreater, Kind::kGreaterEqual, Kind::kLessEqual},
        {"<=", Kind::kLessEqual, Kind::kGreaterEqual, Kind::kGreater, Kind::kLess},
        {">", Kind::kGreater, Kind::kLess, Kind::kLessEqual, Kind::kGreaterEqual},
        {">=", Kind::kGreaterEqual, Kind::kLessEqual, Kind::kLess, Kind::kGreater},
    };
    for (const Comparison& comparison : kComparisons) {
      if (call.function->name != comparison.name) continue;
      if (auto column = column_for(*call.arguments[0], *call.arguments[1])) {
        return leaf({negated ? comparison.negation : comparison.kind, *column, {call.arguments[1]}, {}, true});
      }
      if (auto column = column_for(*call.arguments[1], *call.arguments[0])) {
        return leaf({negated ? comparison.flipped_negation : comparison.flipped, *column, {call.arguments[0]}, {}, true});
      }
      return {};
    }
    if (negated) return {};
    if (auto condition = analyse_entries(call)) return std::move(*condition);
    if (call.function->name == "~~") return analyse_like(*call.arguments[0], *call.arguments[1]);
    return {};
  }

  /// An operator that the entries of an index answer; nullopt: it is no such, or no index has them.
  std::optional<Condition> analyse_entries(const sql::FunctionCall& call) const {
    using Operation = sql::EntryOperation;
    struct Operator {
      std::string_view name;
      Operation operation;
      bool column_first = true, column_last = false;
    };
    static constexpr Operator kOperators[] = {
        {"@>", Operation::kContains}, {"<@", Operation::kContains, false, true}, {"&&", Operation::kOverlaps, true, true},
        {"?", Operation::kHasKey}, {"?|", Operation::kHasAnyKey}, {"?&", Operation::kHasAllKeys},
        {"@@", Operation::kMatches, true, true}, {"~~", Operation::kLike}, {"~~*", Operation::kILike},
    };
    if (std::ranges::none_of(table_.indexes, keeps_entries)) return {};
    for (const Operator& known : kOperators) {
      if (call.function->name != known.name) continue;
      if (known.column_first) {
        if (auto condition = entries_condition(*call.arguments[0], known.operation, call.arguments[1])) return condition;
      }
      if (known.column_last) return entries_condition(*call.arguments[1], known.operation, call.arguments[0]);
    }
    return {};
  }

  /// `7 = ANY (column)`
  Condition analyse_array_test(const sql::ArrayTest& test, bool negated) const {
    if (negated || test.all || test.comparison->name != "=" || std::ranges::none_of(table_.indexes, keeps_entries)) return {};
    return entries_condition(*test.array, sql::EntryOperation::kHasElement, test.operand).value_or(Condition());
  }

  static bool keeps_entries(const sql::IndexDef& index) {
    return index.method == sql::IndexMethod::kGin && !index.is_remembered() && index.state == sql::IndexState::kReady;
  }

  std::optional<Condition> entries_condition(const Expression& operand, sql::EntryOperation operation, const ExpressionPtr& value) const {
    const auto column = column_of(operand);
    if (!column || !is_run_time_constant(*value)) return {};
    const sql::Type type = table_.find_column(*column)->type;
    const sql::EntryKind* best = nullptr;
    for (const sql::IndexDef& index : table_.indexes) {
      if (!keeps_entries(index)) continue;
      for (const sql::IndexDef::Part& part : index.parts) {
        const sql::EntryKind* kind = part.column == *column ? sql::find_entry_kind(type, part.operator_class) : nullptr;
        if (kind == nullptr || !kind->answers(operation, type, value->type)) continue;
        // Paths of jsonb find fewer rows than its keys.
        if (best == nullptr || kind->structure() == sql::Structure::Kind::kJsonbPaths) best = kind;
      }
    }
    if (best == nullptr) return {};
    bool exact = best->is_always_exact(operation);
    if (const auto* constant = std::get_if<sql::Constant>(&value->node); constant != nullptr && !sql::is_null(constant->value)) {
      const sql::EntryQuery query = best->query(operation, value->type, constant->value);
      if (query.kind == sql::EntryQuery::Kind::kEverything) return {};
      exact = query.exact;
    }
    return leaf({ColumnCondition::Kind::kEntries, *column, {value}, {}, exact, EntryCondition{best, operation}});
  }

  Condition analyse_like(const Expression& operand, const Expression& pattern) const {
    auto column = column_of(operand);
    const auto* constant = std::get_if<sql::Constant>(&pattern.node);
    if (!column || !constant || !is_text(table_.find_column(*column)->type.oid)) return {};
    const auto* text = std::get_if<std::string>(&constant->value);
    if (!text) return {};
    std::string prefix;
    std::size_t i = 0;
    for (; i < text->size() && (*text)[i] != '%' && (*text)[i] != '_'; ++i) {
      if ((*text)[i] == '\\' && ++i == text->size()) return {};
      prefix += (*text)[i];
    }
    if (i == text->size()) {
      return leaf({ColumnCondition::Kind::kEqual, *column, {sql::make_constant(pattern.type, prefix)}, {}, true});
    }
    if (prefix.empty()) return {};
    bool exact = text->find_first_not_of('%', i) == std::string::npos;
    return leaf({ColumnCondition::Kind::kPrefix, *column, {}, std::move(prefix), exact});
  }

  Condition analyse_list(const sql::InListTest& test, bool negated) const {
    auto column = column_of(*test.operand);
    if (!column) return {};
    const sql::Type type = table_.find_column(*column)->type;
    for (const ExpressionPtr& value : test.list) {
      if (!is_run_time_constant(*value) || !comparable(type.oid, value->type.oid)) return {};
    }
    if (test.negated == negated) return leaf({ColumnCondition::Kind::kIn, *column, test.list, {}, true});
    // NOT IN (1, 2) is `<> 1 AND <> 2`.
    Condition condition;
    condition.kind = Condition::Kind::kAnd;
    for (const ExpressionPtr& value : test.list) {
      condition.operands.push_back(leaf({ColumnCondition::Kind::kNotEqual, *column, {value}, {}, true}));
    }
    return condition;
  }

  /// The column, seen through casts that only change the label (varchar → text).
  std::optional<std::int16_t> column_of(const Expression& expression) const {
    if (computed_) {
      if (const auto number = computed_(expression)) return number;
    }
    if (const auto* cast = std::get_if<sql::CastCall>(&expression.node)) {
      if (cast->method != sql::CastCall::Method::kRelabel || !is_text(expression.type.oid) || !is_text(cast->operand->type.oid)) {
        return {};
      }
      return column_of(*cast->operand);
    }
    const auto* column = std::get_if<sql::ColumnRef>(&expression.node);
    auto number = column ? number_(column->column) : std::nullopt;
    return number && *number > 0 ? number : std::nullopt;  // the hidden key has no index
  }

  std::optional<std::int16_t> column_for(const Expression& expression, const Expression& value) const {
    auto column = column_of(expression);
    if (!column || !is_run_time_constant(value)) return {};
    return comparable(table_.find_column(*column)->type.oid, value.type.oid) ? column : std::nullopt;
  }

  const sql::TableDef& table_;
  const ColumnNumber& number_;
  const ExpressionNumber& computed_;
};

}  // namespace

Condition analyse_condition(const Expression& expression, const sql::TableDef& table, const ColumnNumber& number,
                            const ExpressionNumber& computed) {
  return Analyser(table, number, computed).analyse(expression, false);
}

Condition analyse_conditions(const std::vector<ExpressionPtr>& expressions, const sql::TableDef& table, const ColumnNumber& number,
                             const ExpressionNumber& computed) {
  Condition condition;
  condition.kind = Condition::Kind::kAnd;
  for (const ExpressionPtr& expression : expressions) {
    Condition part = analyse_condition(*expression, table, number, computed);
    if (part.kind == Condition::Kind::kAnd) {
      std::move(part.operands.begin(), part.operands.end(), std::back_inserter(condition.operands));
    } else {
      condition.operands.push_back(std::move(part));
    }
  }
  return condition;
}

const std::vector<Condition>& conjuncts(const Condition& condition, std::vector<Condition>& single) {
  if (condition.kind == Condition::Kind::kAnd) return condition.operands;
  single = {condition};
  return single;
}

}  // namespace redquel::planner
