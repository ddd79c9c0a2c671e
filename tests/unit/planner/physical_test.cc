#include <set>

#include "planner/cost/cost_model.h"
#include "planner/physical/memory_scans.h"
#include "planner/tree/plan_walk.h"
#include "tests/unit/planner/plan_fixture.h"

namespace redquel::planner {
namespace {

/// The titles of the plan's nodes, outermost first, without what they print of themselves.
std::string titles(const PhysicalPlan& plan) {
  std::string text;
  std::string line;
  for (const std::string& one : explain(plan, {}, nullptr, 0, 0)) {
    const std::size_t arrow = one.find("->  ");
    const bool is_node = text.empty() || arrow != std::string::npos;
    if (is_node) text += (text.empty() ? "" : " / ") + (arrow == std::string::npos ? one : one.substr(arrow + 4));
  }
  return text;
}
std::string titles(const std::string& statement) { return titles(planned(statement)); }

TEST(AccessPaths, TheBestStructureOfAConditionIsRead) {
  EXPECT_EQ(titles("select * from emp where emp_id = 7 and dept = 3"), "Key Lookup on emp");
  EXPECT_EQ(titles("select * from emp where email = 'a@x' and dept = 3"), "Unique Lookup on emp");
  EXPECT_EQ(titles("select * from emp where dept = 3 and ename > 'm'"), "Index Set Scan on emp");
  EXPECT_EQ(titles("select * from emp where salary between 10 and 20"), "Ordered Index Scan by salary on emp");
  EXPECT_EQ(titles("select * from emp where ename = 'x'"), "Full Scan on emp");
}

TEST(AccessPaths, AnOrderIsReadWhereItStopsASort) {
  EXPECT_EQ(titles("select * from emp order by emp_id limit 3"), "Ordered Index Scan by emp_id on emp");
  EXPECT_EQ(titles("select * from emp order by ename limit 3"), "Limit / Top-N Sort / Full Scan on emp");
}

TEST(AccessPaths, CardinalitiesCountRows) {
  EXPECT_EQ(titles("select count(*) from emp where dept = 3"), "Index Count on emp");
  EXPECT_EQ(titles("select dept, count(*) from emp group by dept"), "Index Group Count on emp");
  EXPECT_EQ(titles("select count(*) from emp where ename = 'x'"), "Aggregate / Full Scan on emp");
}

TEST(AccessPaths, RowsOfTheTransactionAreReadWhole) {
  EXPECT_EQ(titles(planned("select count(*) from emp where dept = 3", {kEmp})), "Aggregate / Index Set Scan on emp");
  EXPECT_EQ(titles(planned("select * from emp order by emp_id limit 3", {kEmp})), "Limit / Top-N Sort / Full Scan on emp");
}

TEST(Joins, RowsAreLookedUpByTheKeyOfTheInnerTable) {
  EXPECT_EQ(titles("select * from emp e join dept d on d.id = e.dept where e.emp_id = 7"), "Lookup Join on dept d / Key Lookup on emp e");
  EXPECT_EQ(titles("select * from emp e join dept d on d.name = e.ename"), "Hash Join / Full Scan on emp e / Full Scan on dept d");
}

TEST(Joins, AnOrderAndALimitGoThroughThem) {
  EXPECT_EQ(titles("select * from emp e left join dept d on d.id = e.dept order by e.emp_id limit 3"), "Lookup Left Join on dept d / Ordered Index Scan by emp_id on emp e");
  EXPECT_EQ(titles("select e.emp_id, (select d.name from dept d where d.id = e.dept) from emp e order by e.emp_id limit 3"),
            "Project / Scalar Subquery / Ordered Index Scan by emp_id on emp e / Project / Key Lookup on dept d");
  // An inner join may leave rows out. Where it leaves out many, the walk would be long.
  EXPECT_EQ(titles("select * from emp e join dept d on d.id = e.dept order by e.emp_id limit 3").substr(0, 14), "Limit / Choice");
  EXPECT_EQ(titles("select * from emp e left join dept d on d.id = e.dept order by d.name limit 3").find("Choice"), std::string::npos);
  EXPECT_EQ(titles("select * from emp e full join dept d on d.id = e.dept order by e.emp_id limit 3").find("Choice"), std::string::npos);
}

TEST(Joins, ATableThatTheTransactionHasChangedIsNotWalkedInItsOrder) {
  const std::string text = titles(planned("select * from emp e left join dept d on d.id = e.dept order by e.emp_id limit 3", {kEmp}));
  EXPECT_EQ(text.find("Ordered"), std::string::npos);
}

/// emp with 10,000 rows and 50 values of dept.
TableSizes sizes_of_emp(const PhysicalPlan& plan) {
  TableSizes sizes;
  for (const auto& table : tables_of(plan)) sizes[table->oid] = {10000, {{table->find_column("dept")->number, 50}}};
  return sizes;
}

Estimate estimated(const std::string& statement) {
  const PhysicalPlan plan = planned(statement);
  const TableSizes sizes = sizes_of_emp(plan);
  return CostModel(sizes).of(*plan);
}

TEST(AccessRules, AreLeftOutByNameOrBySeed) {
  EXPECT_EQ(parse_left_out_rules(""), LeftOutRules{});
  EXPECT_EQ(parse_left_out_rules("nothing"), std::nullopt);
  EXPECT_EQ(parse_left_out_rules("some:x"), std::nullopt);
  EXPECT_EQ(parse_left_out_rules("some:17")->seed, 17U);
  RuleChoices choices(*parse_left_out_rules("key_lookup, order"));
  EXPECT_FALSE(choices.allow(AccessRule::kKeyLookup));
  EXPECT_FALSE(choices.allow(AccessRule::kOrder));
  EXPECT_TRUE(choices.allow(AccessRule::kRange));
}

TEST(Costs, RowsFollowFromKeysAndValuesOfIndexes) {
  EXPECT_EQ(estimated("select * from emp where emp_id = 7").rows, 1);
  EXPECT_EQ(estimated("select * from emp where dept = 3").rows, 200);
  EXPECT_EQ(estimated("select * from emp").rows, 10000);
  EXPECT_EQ(estimated("select dept, count(*) from emp group by dept").rows, 50);
  EXPECT_EQ(estimated("select * from emp order by emp_id limit 3").rows, 3);
}

TEST(Costs, ALookupIsCheaperThanASetAndASetThanTheTable) {
  const double lookup = estimated("select * from emp where emp_id = 7").total, set = estimated("select * from emp where dept = 3").total;
  EXPECT_LT(lookup, set);
  EXPECT_LT(set, estimated("select * from emp where ename = 'x'").total);
}

TEST(Costs, OnlyTheFirstRowsBelowALimitAreCounted) {
  EXPECT_LT(estimated("select * from emp limit 3").total, estimated("select * from emp").total / 10);
  EXPECT_GT(estimated("select * from emp order by ename limit 3").total, estimated("select * from emp").total);
}

TEST(Costs, TheWidthIsThatOfTheTypes) { EXPECT_EQ(width_of(*planned("select emp_id, ename from emp")), 36U); }

TEST(Traits, SnapshotsAreNeededWhereRowsOfSeveralMomentsMeet) {
  EXPECT_FALSE(needs_snapshot(planned("select * from emp where emp_id = 7")));
  EXPECT_FALSE(needs_snapshot(planned("select * from emp")));
  EXPECT_FALSE(needs_snapshot(planned("select ename, 1 + 1 from emp where ename > 'm'")));
  EXPECT_TRUE(needs_snapshot(planned("select sum(salary) from emp")));
  EXPECT_TRUE(needs_snapshot(planned("select * from emp order by ename")));
  EXPECT_TRUE(needs_snapshot(planned("select * from emp e join dept d on d.name = e.ename")));
  EXPECT_FALSE(needs_snapshot(planned("update emp set salary = 1 where dept = 3")));
}

TEST(Traits, ASumOverAWindowNeedsASnapshot) {
  EXPECT_TRUE(needs_snapshot(planned("select ename, sum(salary) over () from emp")));
}

TEST(Traits, PlansThatReadWholeRowsServeAChangedTable) {
  const auto serves = [](const std::string& statement) { return reads_changed_tables_plainly(planned(statement), {kEmp}); };
  EXPECT_TRUE(serves("select * from emp where emp_id = 7"));
  EXPECT_TRUE(serves("select * from emp where email = 'a@x'"));
  EXPECT_TRUE(serves("select * from emp where dept = 3"));
  EXPECT_TRUE(serves("select * from emp"));
  EXPECT_FALSE(serves("select * from emp limit 3"));
  EXPECT_FALSE(serves("select * from emp where salary > 3"));
  EXPECT_FALSE(serves("select count(*) from emp where dept = 3"));
  EXPECT_TRUE(serves("select count(*) from dept"));
  EXPECT_FALSE(serves("select * from dept d join emp e on e.dept = d.id where d.id = 1"));
}

TEST(Traits, WritesNameTheirCommandAndTable) {
  const PhysicalPlan update = planned("update emp set salary = 1 where dept = 3");
  ASSERT_NE(main_write(*update), nullptr);
  EXPECT_STREQ(traits_of(*main_write(*update)).command, "UPDATE");
  EXPECT_EQ((*table_of(*main_write(*update)))->name, "emp");
  EXPECT_EQ(main_write(*planned("select * from emp")), nullptr);
  EXPECT_FALSE(is_compound_write(*update));
  EXPECT_TRUE(is_compound_write(*planned("with d as (delete from dept returning id) update emp set salary = 1 where dept in (select id from d)")));
}

TEST(MemoryScans, StandForScansOfRowsButNotForLookupsAndWrites) {
  const auto of_memory = [](const std::string& statement) { return titles(planned(statement, {}, true)); };
  EXPECT_EQ(of_memory("select sum(salary) from emp"), "Aggregate / Memory Scan on emp");
  EXPECT_EQ(of_memory("select * from emp where emp_id = 7"), "Key Lookup on emp");
  EXPECT_EQ(of_memory("select * from emp limit 3"), "Full Scan on emp");
  EXPECT_EQ(of_memory("delete from emp"), "Delete on emp / Full Scan on emp");
}

TEST(MemoryScans, InputsThatAreSharedStayShared) {
  const PhysicalPlan plan = planned("select * from emp e join dept d on d.id = e.dept", {}, true);
  const PhysicalNode& top = below_row_wise(*plan);
  const auto* join = std::get_if<AdaptiveJoin>(&top.node);
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(std::get<LookupJoin>(join->lookup->node).outer, join->outer);
  EXPECT_EQ(std::get<HashJoin>(join->hash->node).left, join->outer);
  EXPECT_EQ(std::get<HashJoin>(join->hash->node).right, join->right);
}

TEST(PlanWalk, VisitsEachNodeOnce) {
  std::string statement = "select e0.emp_id from emp e0";
  for (int i = 1; i < 40; ++i)
    statement += " join emp e" + std::to_string(i) + " on e" + std::to_string(i) + ".emp_id = e" +
                 std::to_string(i - 1) + ".dept";
  const PhysicalPlan plan = planned(statement, {}, true);
  std::set<const PhysicalNode*> known;
  std::size_t visits = 0, joins = 0;
  const bool holds = all_nodes(*plan, [&](const PhysicalNode& node) {
    known.insert(&node);
    ++visits;
    joins += std::holds_alternative<AdaptiveJoin>(node.node) ? 1 : 0;
    return true;
  });
  EXPECT_TRUE(holds);
  EXPECT_EQ(visits, known.size());
  EXPECT_GE(joins, 39U);
  EXPECT_FALSE(
      all_nodes(*plan, [](const PhysicalNode& node) { return !std::holds_alternative<MemoryScan>(node.node); }));
  EXPECT_TRUE(reads_changed_tables_plainly(plan, {kDept}));
}

}  // namespace
}  // namespace redquel::planner
