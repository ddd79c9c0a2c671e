#include "executor/operators/vector_source.h"
#include "tests/unit/executor/operator_plans.h"

namespace redquel::executor {
namespace {

using sql::kInt4;
using sql::kInt8;
using sql::kText;
using SetKind = planner::LogicalSetOperation::Kind;

class BasicOperatorTest : public OperatorTest {
 protected:
  static planner::PhysicalPlan limit(const planner::PhysicalPlan& input, const char* count,
                                     const char* offset = nullptr) {
    planner::PhysicalLimit node{input, nullptr, nullptr};
    if (count) node.limit = constant(kInt8, count);
    if (offset) node.offset = constant(kInt8, offset);
    return plan_of(std::move(node), types_of(input));
  }
  static planner::PhysicalPlan combine(SetKind kind, bool all, const planner::PhysicalPlan& left,
                                       const planner::PhysicalPlan& right) {
    return plan_of(planner::PhysicalSetOperation{kind, all, left, right}, types_of(left));
  }
};

TEST_F(BasicOperatorTest, ValuesProjectFilter) {
  const auto rows = values({kInt4, kText}, {{"1", "a"}, {"2", "NULL"}, {"NULL", "c"}});
  EXPECT_EQ(run(rows), (Rows{"1|a", "2|NULL", "NULL|c"}));
  const auto filtered =
      plan_of(planner::PhysicalFilter{rows, call(">", column(rows, 0), constant(kInt4, "1"))}, types_of(rows));
  EXPECT_EQ(run(filtered), Rows{"2|NULL"});
  const auto projected = plan_of(
      planner::PhysicalProject{rows, {column(rows, 1), call("+", column(rows, 0), column(rows, 0))}}, {kText, kInt4});
  EXPECT_EQ(run(projected), (Rows{"a|2", "NULL|4", "c|NULL"}));
  EXPECT_EQ(run(plan_of(planner::PhysicalValues{{{}, {}}}, {})), (Rows{"", ""}));
}

TEST_F(BasicOperatorTest, FunctionScanWithOrdinality) {
  EXPECT_EQ(run(series(3000)).size(), 3000u);
  EXPECT_LE(largest_batch_, sql::kBatchRows);
  planner::PhysicalFunctionScan node = std::get<planner::PhysicalFunctionScan>(series(2)->node);
  node.calls[0].arguments[0] = constant(kInt4, "0");
  node.with_ordinality = true;
  EXPECT_EQ(run(plan_of(node, {kInt4, kInt8})), (Rows{"0|1", "1|2", "2|3"}));
}

TEST_F(BasicOperatorTest, LimitAndOffset) {
  EXPECT_EQ(run(limit(series(5000), "2", "2999")), (Rows{"3000", "3001"}));
  EXPECT_EQ(run(limit(series(5), nullptr, "3")), (Rows{"4", "5"}));
  EXPECT_EQ(run(limit(series(5), "NULL")).size(), 5u);
  EXPECT_EQ(run(limit(series(5), "0")), Rows{});
  EXPECT_EQ(run(limit(series(5), "3", "9")), Rows{});
  EXPECT_EQ(error_of(limit(series(5), "-1")), "2201W LIMIT must not be negative");
  EXPECT_EQ(error_of(limit(series(5), "1", "-1")), "2201X OFFSET must not be negative");
}

TEST_F(BasicOperatorTest, LimitWithTies) {
  const auto rows = values({kInt4, kText}, {{"1", "a"}, {"2", "b"}, {"2", "c"}, {"2", "d"}, {"3", "e"}});
  const auto with_ties = [&](const char* count, const char* offset) {
    planner::PhysicalLimit node{rows, constant(kInt8, count), constant(kInt8, offset), true, {{column(rows, 0)}}};
    return run(plan_of(node, types_of(rows)));
  };
  EXPECT_EQ(with_ties("2", "0"), (Rows{"1|a", "2|b", "2|c", "2|d"}));
  EXPECT_EQ(with_ties("1", "0"), (Rows{"1|a"}));
  EXPECT_EQ(with_ties("1", "2"), (Rows{"2|c", "2|d"}));
  EXPECT_EQ(with_ties("0", "0"), Rows{});
  EXPECT_EQ(with_ties("9", "0").size(), 5u);
}

TEST_F(BasicOperatorTest, TiesGoOnInTheNextBatch) {
  std::vector<std::vector<std::string>> texts(1500, {"7"});
  texts.push_back({"8"});
  const auto rows = values({kInt4}, texts);
  planner::PhysicalLimit node{rows, constant(kInt8, "1024"), nullptr, true, {{column(rows, 0)}}};
  EXPECT_EQ(run(plan_of(node, types_of(rows))).size(), 1500u);
}

TEST_F(BasicOperatorTest, Distinct) {
  const auto rows =
      values({kInt4, kText}, {{"1", "a"}, {"1", "a"}, {"NULL", "NULL"}, {"1", "b"}, {"NULL", "NULL"}, {"2", "a"}});
  EXPECT_EQ(run(plan_of(planner::PhysicalDistinct{rows, {}}, types_of(rows))),
            (Rows{"1|a", "NULL|NULL", "1|b", "2|a"}));
  const auto ordered = values({kInt4, kText}, {{"1", "x"}, {"1", "y"}, {"2", "z"}, {"NULL", "u"}, {"NULL", "v"}});
  EXPECT_EQ(run(plan_of(planner::PhysicalDistinct{ordered, {column(ordered, 0)}}, types_of(ordered))),
            (Rows{"1|x", "2|z", "NULL|u"}));
  const auto no_columns = plan_of(planner::PhysicalValues{{{}, {}, {}}}, {});
  EXPECT_EQ(run(plan_of(planner::PhysicalDistinct{no_columns, {}}, {})).size(), 1u);
}

TEST_F(BasicOperatorTest, SetOperations) {
  const auto left = values({kInt4}, {{"1"}, {"1"}, {"1"}, {"2"}, {"2"}, {"NULL"}, {"NULL"}, {"3"}});
  const auto right = values({kInt4}, {{"1"}, {"2"}, {"2"}, {"2"}, {"NULL"}, {"4"}});
  EXPECT_EQ(run(combine(SetKind::kUnion, true, left, right)).size(), 14u);
  EXPECT_EQ(run(combine(SetKind::kUnion, false, left, right)), (Rows{"1", "2", "NULL", "3", "4"}));
  EXPECT_EQ(run(combine(SetKind::kIntersect, false, left, right)), (Rows{"1", "2", "NULL"}));
  EXPECT_EQ(run(combine(SetKind::kIntersect, true, left, right)), (Rows{"1", "2", "2", "NULL"}));
  EXPECT_EQ(run(combine(SetKind::kExcept, false, left, right)), (Rows{"3"}));
  EXPECT_EQ(run(combine(SetKind::kExcept, true, left, right)), (Rows{"1", "1", "NULL", "3"}));
  EXPECT_EQ(run(combine(SetKind::kExcept, false, left, values({kInt4}, {}))), (Rows{"1", "2", "NULL", "3"}));
  EXPECT_EQ(run(combine(SetKind::kIntersect, true, left, values({kInt4}, {}))), Rows{});
  context_.work_mem = 64 * 1024;  // the rest in temporary files
  EXPECT_EQ(run(combine(SetKind::kUnion, false, series(100'000), series(1))).size(), 100'000u);
  EXPECT_EQ(run(combine(SetKind::kIntersect, false, series(60'000), series(100'000))).size(), 60'000u);
  EXPECT_EQ(run(combine(SetKind::kExcept, true, series(100'000), series(60'000))).size(), 40'000u);
}

TEST_F(BasicOperatorTest, VectorSourceLeavesOutEmptyBatches) {
  sql::Batch one;
  one.rows = 1;
  std::vector<sql::Batch> batches = {sql::Batch(), one, sql::Batch(), one};
  EXPECT_EQ(run_coroutine(loop_, collect(std::make_unique<VectorSource>(batches))).size(), 2u);
}

}  // namespace
}  // namespace redquel::executor
