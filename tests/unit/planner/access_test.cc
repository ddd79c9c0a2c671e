#include <fmt/format.h>

#include <variant>

#include "parser/parse.h"
#include "planner/access/index_condition.h"
#include "planner/access/ordered_source.h"
#include "planner/access/set_algebra.h"
#include "planner/bind/bind.h"
#include "tests/unit/planner/plan_fixture.h"

namespace redquel::planner {
namespace {

const sql::TableDef& emp() { return *indexed_catalog().tables.at(kEmp); }

std::string column_name(std::int16_t number) { return emp().find_column(number)->name; }

std::string text(const Condition& condition) {
  static constexpr std::string_view kNames[] = {"=", "<>", "IN", "<", "<=", ">", ">=", "IS NULL", "IS NOT NULL", "LIKE"};
  switch (condition.kind) {
    case Condition::Kind::kOpaque:
      return "opaque";
    case Condition::Kind::kColumn: {
      std::string result = fmt::format("{} {}", column_name(condition.column.column), kNames[static_cast<std::size_t>(condition.column.kind)]);
      for (const sql::ExpressionPtr& value : condition.column.values) result += " " + sql::to_string(*value);
      if (!condition.column.prefix.empty()) result += " " + condition.column.prefix + "%";
      return condition.column.exact ? result : result + " at least";
    }
    case Condition::Kind::kNotTrue:
      return "not true (" + text(condition.operands[0]) + ")";
    case Condition::Kind::kAnd:
    case Condition::Kind::kOr: {
      std::string result;
      for (const Condition& operand : condition.operands) result += (result.empty() ? "" : condition.kind == Condition::Kind::kAnd ? " and " : " or ") + text(operand);
      return "(" + result + ")";
    }
  }
  return "";
}

std::string text(const SetExpression& sets) {
  using Kind = SetExpression::Kind;
  if (sets.kind == Kind::kSet || sets.kind == Kind::kNullSet) {
    std::string result;
    for (std::size_t i = 0; i < sets.columns.size(); ++i) {
      const std::string value = sets.kind == Kind::kNullSet ? "NULL" : sql::to_string(*sets.values[i]);
      result += (result.empty() ? "" : ",") + column_name(sets.columns[i]) + ":" + value;
    }
    return result;
  }
  if (sets.kind == Kind::kRange) {
    const auto end = [](const std::optional<RangeBound>& bound) { return bound ? (bound->inclusive ? "=" : "") + sql::to_string(*bound->value) : "-"; };
    return fmt::format("{}[{}..{}]", column_name(sets.columns[0]), end(sets.lower), end(sets.upper));
  }
  std::string result;
  const char* sign = sets.kind == Kind::kIntersection ? " & " : sets.kind == Kind::kUnion ? " | " : " - ";
  for (const SetExpression& operand : sets.operands) result += (result.empty() ? "" : sign) + text(operand);
  return "(" + result + ")";
}

/// The WHERE clause of a query over emp as a condition over its columns.
Condition condition_of(const std::string& where) {
  const auto parsed = parser::parse("select * from emp where " + where);
  LogicalPtr node = bind(*parsed.at(0).statement, indexed_catalog()).plan;
  while (!std::holds_alternative<LogicalFilter>(node->node)) node = std::get<LogicalProject>(node->node).input;
  const auto& filter = std::get<LogicalFilter>(node->node);
  const auto& scan = std::get<LogicalScan>(filter.input->node);
  const auto& columns = filter.input->columns;
  return analyse_condition(*filter.condition, emp(), [&](ColumnId id) -> std::optional<std::int16_t> {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].id == id) return scan.numbers[i];
    }
    return std::nullopt;
  });
}

std::string superset(const std::string& where) {
  const auto sets = SetAlgebra(emp()).superset(condition_of(where));
  return sets ? text(*sets) : "none";
}
std::string exact(const std::string& where) {
  const auto sets = SetAlgebra(emp()).exact(condition_of(where));
  return sets ? text(*sets) : "none";
}

TEST(IndexConditions, AreComparisonsOfAColumnWithAKnownValue) {
  EXPECT_EQ(text(condition_of("dept = 3")), "dept = 3");
  EXPECT_EQ(text(condition_of("3 < dept")), "dept > 3");
  EXPECT_EQ(text(condition_of("dept in (1, 2)")), "dept IN 1 2");
  EXPECT_EQ(text(condition_of("ename like 'sm%'")), "ename LIKE sm%");
  EXPECT_EQ(text(condition_of("dept is null")), "dept IS NULL");
  EXPECT_EQ(text(condition_of("dept = emp_id")), "opaque");
  EXPECT_EQ(text(condition_of("dept + 1 = 3")), "opaque");
  EXPECT_EQ(text(condition_of("dept = random()::int")), "opaque");
}

TEST(IndexConditions, HaveTheirNegationsAtTheLeaves) {
  EXPECT_EQ(text(condition_of("not dept = 3")), "dept <> 3");
  EXPECT_EQ(text(condition_of("not (dept = 3 or salary < 5)")), "(dept <> 3 and salary >= (5)::double precision)");
  EXPECT_EQ(text(condition_of("not (dept = 3 and ename = 'x')")), "(dept <> 3 or ename <> 'x'::text)");
}

TEST(SetAlgebra, SupersetsLeaveOutWhatNoIndexKnows) {
  EXPECT_EQ(superset("dept = 3"), "dept:3");
  EXPECT_EQ(superset("dept = 3 and ename = 'x'"), "dept:3");
  EXPECT_EQ(superset("dept = 3 or ename = 'x'"), "none");
  EXPECT_EQ(superset("dept in (1, 2) and salary > 5"), "((dept:1 | dept:2) & salary[(5)::double precision..-])");
}

TEST(SetAlgebra, ExactSetsKnowThatNullIsNeitherTrueNorFalse) {
  EXPECT_EQ(exact("dept = 3"), "dept:3");
  EXPECT_EQ(exact("dept = 3 and ename = 'x'"), "none");
  EXPECT_EQ(exact("dept = 3 or dept is null"), "(dept:3 | dept:NULL)");
  EXPECT_EQ(exact("dept in (1, 2, 3) and dept <> 2"), "((dept:1 | dept:2 | dept:3) - dept:2 - dept:NULL)");
}

TEST(OrderedSources, AreOrderedIndexesAndTheSetOfAllRows) {
  const auto by = [](const char* column) { return ordered_source(emp(), emp().find_column(column)->number); };
  ASSERT_TRUE(by("emp_id"));
  EXPECT_EQ(by("emp_id")->key, "emp:zset");
  ASSERT_TRUE(by("salary"));
  EXPECT_EQ(by("salary")->key, "emp:zset:salary");
  EXPECT_EQ(by("salary")->encoding, OrderedSource::Encoding::kScore);
  EXPECT_FALSE(by("ename"));
  EXPECT_TRUE(scores_are_values(emp(), emp().find_column("dept")->number));
  EXPECT_FALSE(scores_are_values(emp(), emp().find_column("salary")->number));
}

}  // namespace
}  // namespace redquel::planner
