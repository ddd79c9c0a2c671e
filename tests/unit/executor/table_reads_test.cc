#include <gmock/gmock.h>

#include "planner/explain/describe_commands.h"
#include "tests/unit/executor/planned_statements.h"

namespace redquel::executor {
namespace {

class TableReadsTest : public PlannedStatementTest {};

TEST_F(TableReadsTest, KeyLookupSendsTheCommandThatExplainNames) {
  const planner::PhysicalPlan plan = planned("select ename from emp where emp_id = 7");
  const planner::PhysicalNode& lookup = planner::below_row_wise(*plan);
  EXPECT_THAT(planner::describe_commands(lookup).commands, ::testing::ElementsAre("HMGET emp:7 ename"));
  redis_.expect({"HMGET emp:7 ename"}, {resp::texts({"smith"})});
  EXPECT_EQ(run(plan), Rows{"smith"});
}

TEST_F(TableReadsTest, KeyLookupOfARowThatIsNotThereGivesNoRow) {
  redis_.expect({"HMGET emp:7 ename"}, {resp::array({resp::nil()})});
  EXPECT_EQ(run(planned("select ename from emp where emp_id = 7")), Rows{});
}

TEST_F(TableReadsTest, SeveralKeysAreReadInOneRoundTripEachOnce) {
  expect_unit({"HMGET emp:7 ename", "HMGET emp:9 ename"}, {resp::texts({"smith"}), resp::texts({"jones"})});
  EXPECT_EQ(run(planned("select ename from emp where emp_id in (7, 9, 7)")), (Rows{"smith", "jones"}));
  EXPECT_EQ(redis_.round_trips(), 1u);
}

TEST_F(TableReadsTest, ConditionsOnOtherColumnsAreCheckedOnTheRow) {
  redis_.expect({"HMGET emp:7 ename dept"}, {resp::texts({"smith", "3"})});
  EXPECT_EQ(run(planned("select ename from emp where emp_id = 7 and dept = 4")), Rows{});
}

TEST_F(TableReadsTest, CardinalitiesCountRows) {
  const planner::PhysicalPlan plan = planned("select count(*) from emp where dept = 3");
  EXPECT_THAT(planner::describe_commands(planner::below_row_wise(*plan)).commands, ::testing::ElementsAre("SCARD emp:indices:dept:3"));
  redis_.expect({"SCARD emp:indices:dept:3"}, {resp::integer(12)});
  EXPECT_EQ(run(plan), Rows{"12"});
}

TEST_F(TableReadsTest, LookupJoinReadsTheInnerRowsOfABatchTogether) {
  expect_unit({"HMGET emp:7 ename dept", "HMGET emp:9 ename dept"}, {resp::texts({"smith", "3"}), resp::texts({"jones", "4"})});
  expect_unit({"HMGET dept:3 name", "HMGET dept:4 name"}, {resp::texts({"sales"}), resp::array({resp::nil()})});
  EXPECT_EQ(run(planned("select e.ename, d.name from emp e join dept d on d.id = e.dept where e.emp_id in (7, 9)")), Rows{"smith|sales"});
}

}  // namespace
}  // namespace redquel::executor
