#include "tests/unit/executor/operator_plans.h"

namespace redquel::executor {
namespace {

using planner::JoinKind;
using sql::kBool;
using sql::kInt4;
using sql::kText;
using Kind = planner::LogicalApply::Kind;

class ApplyTest : public OperatorTest {
 protected:
  /// Rows of `table` whose column 0 equals the parameter slot.
  static planner::PhysicalPlan correlated(const planner::PhysicalPlan& table, std::uint32_t slot) {
    return plan_of(planner::PhysicalFilter{table, call("=", column(table, 0), parameter(table->columns[0].type, slot))},
                   types_of(table));
  }
  static planner::PhysicalPlan project(const planner::PhysicalPlan& input, std::uint32_t position) {
    return plan_of(planner::PhysicalProject{input, {column(input, position)}}, {input->columns[position].type});
  }
  static planner::PhysicalPlan apply(Kind kind, const planner::PhysicalPlan& input,
                                     const planner::PhysicalPlan& subquery, sql::Type type,
                                     std::vector<planner::PhysicalApply::Correlation> correlations = {}) {
    auto types = types_of(input);
    types.push_back(type);
    return plan_of(
        planner::PhysicalApply{kind, JoinKind::kInner, input, subquery, nullptr, false, std::move(correlations)},
        types);
  }
  static planner::PhysicalPlan quantified(const planner::PhysicalPlan& input, const planner::PhysicalPlan& subquery,
                                          const std::string& op, bool all,
                                          std::vector<planner::PhysicalApply::Correlation> correlations = {}) {
    auto types = types_of(input);
    types.push_back(kBool);
    std::vector<sql::ExpressionPtr> comparisons;
    for (std::uint32_t i = 0; i < subquery->columns.size(); ++i) {
      comparisons.push_back(call(
          op, column(input, i),
          sql::make_column(subquery->columns[i].type, static_cast<std::uint32_t>(input->columns.size()) + i, "s")));
    }
    return plan_of(planner::PhysicalApply{Kind::kIn, JoinKind::kInner, input, subquery, sql::conjunction(comparisons),
                                          all, std::move(correlations)},
                   types);
  }
  std::uint64_t loops(const planner::PhysicalPlan& plan, const planner::PhysicalPlan& node) {
    planner::RunStatistics statistics;
    context_.statistics = &statistics;
    run(plan);
    context_.statistics = nullptr;
    return statistics[node.get()].loops;
  }

  planner::PhysicalPlan emp_ =
      values({kInt4, kText}, {{"1", "smith"}, {"2", "jones"}, {"1", "clark"}, {"NULL", "king"}, {"2", "adams"}});
  planner::PhysicalPlan dept_ = values({kInt4, kText}, {{"1", "sales"}, {"3", "empty"}});
};

TEST_F(ApplyTest, ScalarIsRememberedByCorrelatedValues) {
  const auto subquery = project(correlated(dept_, 0), 1);
  const auto plan = apply(Kind::kScalar, emp_, subquery, kText, {{0, 0}});
  EXPECT_EQ(run(plan), (Rows{"1|smith|sales", "2|jones|NULL", "1|clark|sales", "NULL|king|NULL", "2|adams|NULL"}));
  EXPECT_EQ(loops(plan, subquery), 3u);
}

TEST_F(ApplyTest, UncorrelatedRunsOnce) {
  const auto one = values({kText}, {{"x"}});
  const auto many = plan_of(planner::PhysicalProject{series(5000), {constant(kInt4, "1")}}, {kInt4});
  const auto plan = apply(Kind::kScalar, many, one, kText);
  EXPECT_EQ(run(plan).size(), 5000u);
  EXPECT_EQ(loops(plan, one), 1u);
}

TEST_F(ApplyTest, VolatileSubqueriesRunForEveryRow) {
  const auto function = sql::find_functions("random").front();
  const auto noise =
      plan_of(planner::PhysicalProject{correlated(dept_, 0),
                                       {sql::make_expression(sql::kFloat8, sql::FunctionCall{function, {}})}},
              {sql::kFloat8});
  EXPECT_EQ(loops(apply(Kind::kScalar, emp_, noise, sql::kFloat8, {{0, 0}}), noise), 5u);
}

TEST_F(ApplyTest, EqualValuesThatPrintDifferentlyAreAskedApart) {
  const auto numbers = values({sql::kNumeric}, {{"1.0"}, {"1.00"}, {"1.0"}});
  const auto echo = plan_of(planner::PhysicalValues{{{parameter(sql::kNumeric, 0)}}}, {sql::kNumeric});
  EXPECT_EQ(run(apply(Kind::kScalar, numbers, echo, sql::kNumeric, {{0, 0}})),
            (Rows{"1.0|1.0", "1.00|1.00", "1.0|1.0"}));
}

TEST_F(ApplyTest, MoreThanOneRow) {
  EXPECT_EQ(error_of(apply(Kind::kScalar, emp_, project(dept_, 1), kText)),
            "21000 more than one row returned by a subquery used as an expression");
  EXPECT_EQ(error_of(apply(Kind::kScalar, emp_, series(5000), kInt4)),
            "21000 more than one row returned by a subquery used as an expression");
}

TEST_F(ApplyTest, Exists) {
  EXPECT_EQ(run(apply(Kind::kExists, emp_, correlated(dept_, 0), kBool, {{0, 0}})),
            (Rows{"1|smith|t", "2|jones|f", "1|clark|t", "NULL|king|f", "2|adams|f"}));
  EXPECT_EQ(run(apply(Kind::kExists, dept_, values({kInt4}, {}), kBool)), (Rows{"1|sales|f", "3|empty|f"}));
}

TEST_F(ApplyTest, InIsThreeValued) {
  const auto tests = values({kInt4}, {{"1"}, {"2"}, {"NULL"}});
  const auto none = values({kInt4}, {}), plain = values({kInt4}, {{"1"}, {"1"}}),
             with_null = values({kInt4}, {{"1"}, {"NULL"}});
  EXPECT_EQ(run(quantified(tests, plain, "=", false)), (Rows{"1|t", "2|f", "NULL|NULL"}));
  EXPECT_EQ(run(quantified(tests, with_null, "=", false)), (Rows{"1|t", "2|NULL", "NULL|NULL"}));
  EXPECT_EQ(run(quantified(tests, none, "=", false)), (Rows{"1|f", "2|f", "NULL|f"}));
  EXPECT_EQ(run(quantified(tests, plain, "<>", true)), (Rows{"1|f", "2|t", "NULL|NULL"}));
  EXPECT_EQ(run(quantified(tests, with_null, "<>", true)), (Rows{"1|f", "2|NULL", "NULL|NULL"}));
  EXPECT_EQ(run(quantified(tests, none, "<>", true)), (Rows{"1|t", "2|t", "NULL|t"}));
  EXPECT_EQ(run(quantified(tests, with_null, "<", false)), (Rows{"1|NULL", "2|NULL", "NULL|NULL"}));
  EXPECT_EQ(run(quantified(tests, plain, ">", false)), (Rows{"1|f", "2|t", "NULL|NULL"}));
  EXPECT_EQ(run(quantified(tests, plain, ">=", true)), (Rows{"1|t", "2|t", "NULL|NULL"}));
  EXPECT_EQ(run(quantified(tests, none, ">=", true)), (Rows{"1|t", "2|t", "NULL|t"}));
}

TEST_F(ApplyTest, InOfOtherIntegerTypes) {
  const auto tests = values({sql::kInt8}, {{"1"}, {"70000"}});
  EXPECT_EQ(run(quantified(tests, values({sql::kInt2}, {{"1"}}), "=", false)), (Rows{"1|t", "70000|f"}));
}

TEST_F(ApplyTest, InOfRowsWithNulls) {
  const auto set = values({kInt4, kInt4}, {{"1", "1"}, {"2", "NULL"}, {"NULL", "NULL"}});
  const auto smaller = values({kInt4, kInt4}, {{"1", "1"}, {"2", "NULL"}});
  const auto tests = values({kInt4, kInt4}, {{"1", "1"}, {"2", "5"}, {"3", "3"}, {"1", "NULL"}, {"3", "NULL"}});
  EXPECT_EQ(run(quantified(tests, set, "=", false)),
            (Rows{"1|1|t", "2|5|NULL", "3|3|NULL", "1|NULL|NULL", "3|NULL|NULL"}));
  EXPECT_EQ(run(quantified(tests, smaller, "=", false)),
            (Rows{"1|1|t", "2|5|NULL", "3|3|f", "1|NULL|NULL", "3|NULL|f"}));
}

TEST_F(ApplyTest, CorrelatedIn) {
  const auto subquery = project(correlated(values({kInt4, kInt4}, {{"1", "1"}, {"2", "7"}, {"2", "NULL"}}), 0), 1);
  EXPECT_EQ(run(quantified(emp_, subquery, "=", false, {{0, 0}})),
            (Rows{"1|smith|t", "2|jones|NULL", "1|clark|t", "NULL|king|f", "2|adams|NULL"}));
}

TEST_F(ApplyTest, Lateral) {
  const auto table = values({kInt4, kText}, {{"1", "x"}, {"2", "y"}, {"1", "z"}});
  const auto lateral = [&](JoinKind join, const planner::PhysicalPlan& subquery,
                           std::vector<planner::PhysicalApply::Correlation> correlations) {
    return plan_of(
        planner::PhysicalApply{Kind::kLateral, join, emp_, subquery, nullptr, false, std::move(correlations)},
        types_of(emp_, subquery));
  };
  const auto subquery = correlated(table, 3);
  EXPECT_EQ(run(lateral(JoinKind::kInner, subquery, {{3, 0}})),
            (Rows{"1|smith|1|x", "1|smith|1|z", "2|jones|2|y", "1|clark|1|x", "1|clark|1|z", "2|adams|2|y"}));
  EXPECT_EQ(run(lateral(JoinKind::kLeft, subquery, {{3, 0}})),
            (Rows{"1|smith|1|x", "1|smith|1|z", "2|jones|2|y", "1|clark|1|x", "1|clark|1|z", "NULL|king|NULL|NULL",
                  "2|adams|2|y"}));
  EXPECT_EQ(loops(lateral(JoinKind::kInner, subquery, {{3, 0}}), subquery), 3u);
  EXPECT_EQ(run(lateral(JoinKind::kInner, series(3000), {})).size(), 15'000u);
  const auto small = series(40);
  EXPECT_EQ(loops(lateral(JoinKind::kInner, small, {}), small), 1u);
  EXPECT_LE(largest_batch_, 2 * sql::kBatchRows);
}

/// A subquery in a subquery: the inner one is asked anew for each run of the outer one.
TEST_F(ApplyTest, NestedCorrelation) {
  const auto inner = project(correlated(dept_, 0), 1);
  const auto names = plan_of(planner::PhysicalValues{{{constant(kText, "n")}}}, {kText});
  const auto outer = project(apply(Kind::kScalar, names, inner, kText), 1);
  EXPECT_EQ(run(apply(Kind::kScalar, emp_, outer, kText, {{0, 0}})),
            (Rows{"1|smith|sales", "2|jones|NULL", "1|clark|sales", "NULL|king|NULL", "2|adams|NULL"}));
}

}  // namespace
}  // namespace redquel::executor
