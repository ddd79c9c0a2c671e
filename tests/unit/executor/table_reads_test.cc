#include <gmock/gmock.h>

#include "parser/parse.h"
#include "planner/explain/describe_commands.h"
#include "planner/plan.h"
#include "tests/unit/executor/operator_plans.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::executor {
namespace {

/// Reads of one table over a fake Redis, planned from SQL:
///   CREATE TABLE emp(emp_id int PRIMARY KEY, ename text NOT NULL, dept int);  CREATE INDEX ON emp (dept);
///   CREATE TABLE dept(id int PRIMARY KEY, name text NOT NULL);
class TableReadsTest : public OperatorTest {
 protected:
  static sql::CatalogPtr make_catalog() {
    auto catalog = std::make_shared<sql::CatalogSnapshot>();
    catalog->version = "1";
    catalog->schemas["public"] = {2200, "public"};
    sql::TableDef emp = sql::make_table("emp", {{"emp_id", sql::kInt4}, {"ename", sql::kText}, {"dept", sql::kInt4}}, {"emp_id"});
    emp.columns[1].not_null = true;
    sql::add_index(emp, {"dept"});
    sql::TableDef dept = sql::make_table("dept", {{"id", sql::kInt4}, {"name", sql::kText}}, {"id"});
    dept.oid = 17000;
    dept.columns[1].not_null = true;
    catalog->tables[emp.oid] = std::make_shared<const sql::TableDef>(emp);
    catalog->tables[dept.oid] = std::make_shared<const sql::TableDef>(dept);
    return catalog;
  }
  planner::PhysicalPlan planned(const std::string& statement) const {
    return planner::plan(*parser::parse(statement).at(0).statement, *catalog_, {}, {}).plan;
  }
  Rows run(const planner::PhysicalPlan& plan) { return run_coroutine(loop_, collect(tables_.make_operator(*plan))); }
  /// One round trip of several commands as one unit.
  void expect_unit(std::vector<std::string> commands, const std::vector<std::string>& replies) {
    std::vector<std::string> given{resp::ok()};
    for (std::size_t i = 0; i < commands.size(); ++i) given.push_back(resp::status("QUEUED"));
    given.push_back(resp::array(replies));
    commands.insert(commands.begin(), "MULTI");
    commands.emplace_back("EXEC");
    redis_.expect(std::move(commands), std::move(given));
  }
  void TearDown() override { EXPECT_TRUE(redis_.is_done()); }

  sql::CatalogPtr catalog_ = make_catalog();
  ExecutionContext tables_{redis_, redis_, catalog_, evaluation(), make_operator};
};

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
