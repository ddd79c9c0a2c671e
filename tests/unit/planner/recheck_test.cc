#include "planner/recheck.h"

#include "tests/unit/planner/plan_fixture.h"

namespace redquel::planner {
namespace {

const RecheckSource& source_of(const PhysicalPlan& plan) {
  if (const auto* locks = std::get_if<PhysicalLockRows>(&plan->node)) return locks->recheck;
  if (const PhysicalNode* write = main_write(*plan)) {
    if (const auto* update = std::get_if<PhysicalUpdate>(&write->node)) return update->recheck;
    if (const auto* merge = std::get_if<PhysicalMerge>(&write->node)) return merge->recheck;
    return std::get<PhysicalDelete>(write->node).recheck;
  }
  return source_of(inputs_of(*plan).at(0));
}

std::optional<Recheck> rechecked(const std::string& statement, SubqueryAnswers answers) {
  const PhysicalPlan plan = planned(statement);
  return plan_recheck(source_of(plan), sql::SessionSettings(), {}, 3, answers);
}

/// The tables that the plan of a recheck reads.
std::vector<std::string> tables_read(const std::string& statement, SubqueryAnswers answers = SubqueryAnswers::kNew) {
  const std::optional<Recheck> recheck = rechecked(statement, answers);
  if (!recheck) return {"(none)"};
  std::vector<std::string> names;
  for (const auto& table : tables_of(recheck->plan)) names.push_back(table->name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Recheck, ReadsNoTableOfTheJoin) {
  EXPECT_EQ(tables_read("update emp set salary = 1 where dept = 3"), Names{});
  EXPECT_EQ(tables_read("update emp e set salary = d.id from dept d where d.id = e.dept and d.name = 'x'"), Names{});
  EXPECT_EQ(tables_read("delete from emp e using dept d left join dept o on o.id = d.id + 1 where d.id = e.dept"), Names{});
  EXPECT_EQ(tables_read("merge into emp e using dept d on d.id = e.dept when matched then delete"), Names{});
  EXPECT_EQ(tables_read("select ename from emp e join dept d on d.id = e.dept where d.name = 'x' order by salary for update of e"), Names{});
}

TEST(Recheck, KeepsValuesOfSubqueriesThatLookAtNoRow) {
  EXPECT_EQ(tables_read("update emp set salary = (select max(id) from dept) where dept = 3"), Names{});
}

TEST(Recheck, RunsSubqueriesOnlyIfTheRowHasChangedInWhatTheyLookAt) {
  for (const std::string statement : {"update emp e set salary = (select max(id) from dept where id > e.dept) where dept = 3",
                                      "delete from emp e where exists (select from dept d where d.id = e.dept)"}) {
    EXPECT_EQ(tables_read(statement), Names{"dept"});
    EXPECT_EQ(tables_read(statement, SubqueryAnswers::kKept), Names{});
    const std::optional<Recheck> recheck = rechecked(statement, SubqueryAnswers::kKept);
    ASSERT_TRUE(recheck);
    EXPECT_EQ(recheck->targets[0].looked_at.size(), 1U);  // dept
  }
}

TEST(Recheck, HasSlotsForTheNewRowAndForWhatWasRead) {
  const auto recheck = rechecked("update emp e set salary = d.id from dept d where d.id = e.dept", SubqueryAnswers::kKept);
  ASSERT_TRUE(recheck);
  ASSERT_EQ(recheck->targets.size(), 1U);
  EXPECT_EQ(recheck->targets[0].is_there, 3U);
  EXPECT_EQ(recheck->targets[0].values.size(), 6U);  // the columns of emp
  EXPECT_EQ(recheck->kept.size(), 2U);               // those of dept
  EXPECT_EQ(recheck->slot_count, 12U);
}

}  // namespace
}  // namespace redquel::planner
