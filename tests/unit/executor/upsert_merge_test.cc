// INSERT … ON CONFLICT DO UPDATE and MERGE over a fake Redis: which rows they read, and what becomes of each.

#include <gmock/gmock.h>

#include "executor/scripts/scripts.h"
#include "executor/storage/write_conflict.h"
#include "tests/unit/executor/planned_statements.h"

namespace redquel::executor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class UpsertTest : public PlannedStatementTest {
 protected:
  /// The row that the statement finds under a key; empty: none.
  void expect_look(const std::string& member, const std::vector<std::string>& row) {
    redis_.expect({"HMGET emp:" + member + " ename dept"}, {row.empty() ? resp::array({resp::nil(), resp::nil()}) : resp::texts(row)});
  }
  static constexpr const char* kUpsert =
      "insert into emp values (7, 'smith', 3) on conflict (emp_id) do update set dept = emp.dept + excluded.dept where emp.ename <> 'king'";
};

TEST_F(UpsertTest, ARowThatIsNotThereIsInserted) {
  expect_look("7", {});
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));  // which verifies that there is still none
  EXPECT_EQ(run_statement(kUpsert), Rows{});
  EXPECT_EQ(tables_.affected_rows, 1u);
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("absent emp:7"), HasSubstr("hset 5 emp:7 ename smith dept 3")));
}

TEST_F(UpsertTest, ARowThatIsThereIsUpdatedFromBothRows) {
  expect_look("7", {"jones", "4"});
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  EXPECT_EQ(run_statement(kUpsert), Rows{});
  EXPECT_EQ(tables_.affected_rows, 1u);
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("set- emp:indices:dept 4 7"), HasSubstr("set+ emp:indices:dept 7 7"), Not(HasSubstr("smith"))));
}

TEST_F(UpsertTest, ARowThatWhereRefusesStays) {
  expect_look("7", {"king", "4"});
  EXPECT_EQ(run_statement(std::string(kUpsert) + " returning dept"), Rows{});
  EXPECT_EQ(tables_.affected_rows, 0u);
}

TEST_F(UpsertTest, ReturningShowsNewAndChangedRows) {
  expect_unit({"HMGET emp:8 ename dept", "HMGET emp:7 ename dept"}, {resp::array({resp::nil(), resp::nil()}), resp::texts({"jones", "4"})});
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  Rows rows = run_statement("insert into emp values (8, 'ford', 2), (7, 'smith', 3) on conflict (emp_id) do update set dept = excluded.dept "
                            "returning emp_id, ename, dept");
  std::ranges::sort(rows);
  EXPECT_EQ(rows, (Rows{"7|jones|3", "8|ford|2"}));
  EXPECT_EQ(tables_.affected_rows, 2u);
}

TEST_F(UpsertTest, TwoProposedRowsOfOneKeyAreAnError) {
  redis_.expect({"HMGET emp:7 ename dept"}, {resp::array({resp::nil(), resp::nil()})});
  EXPECT_EQ(error_of_statement("insert into emp values (7, 'smith', 3), (7, 'jones', 4) on conflict (emp_id) do update set dept = excluded.dept"),
            "21000 ON CONFLICT DO UPDATE command cannot affect row a second time");
}

TEST_F(UpsertTest, ARowThatIsWrongReachesNoWrite) {
  expect_look("7", {"jones", "4"});
  EXPECT_EQ(error_of_statement("insert into emp values (7, 'smith', 3) on conflict (emp_id) do update set ename = null"),
            "23502 null value in column \"ename\" of relation \"emp\" violates not-null constraint");
}

TEST_F(UpsertTest, ARowThatComesInBetweenMakesTheStatementRunAgain) {
  expect_look("7", {});
  redis_.expect_call(kWriteScript, resp::array({resp::text("stop"), resp::integer(4)}));
  redis_.expect_call(kWriteManyScript, resp::array({resp::text("found"), resp::integer(10), resp::integer(0), resp::text("")}));
  redis_.expect({"ZMSCORE emp:zset 7"}, {resp::texts({"7"})});
  EXPECT_THROW(run_statement(kUpsert), WriteConflict);
}

class MergeTest : public PlannedStatementTest {
 protected:
  /// The rows that are found under the keys of the source, 7 and 8.
  void expect_look(const std::string& seven, const std::string& eight) {
    expect_unit({"HMGET emp:7 ename dept", "HMGET emp:8 ename dept"}, {seven, eight});
  }
  static std::string row(const std::string& name, const std::string& dept) { return resp::texts({name, dept}); }
  static std::string none() { return resp::array({resp::nil(), resp::nil()}); }
  static std::string merge(const std::string& actions) {
    return "merge into emp using (values (7, 3), (8, 5)) as s (id, d) on emp.emp_id = s.id " + actions;
  }
};

TEST_F(MergeTest, MatchedAndOtherRowsAreOneUnit) {
  expect_look(row("jones", "4"), none());
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  run_statement(merge("when matched then update set dept = d when not matched then insert values (id, 'new', d)"));
  EXPECT_EQ(tables_.affected_rows, 2u);
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("set- emp:indices:dept 4 7"), HasSubstr("set+ emp:indices:dept 3 7"),
                                           HasSubstr("hset 5 emp:8 ename new dept 5"), HasSubstr("score+ emp:zset 8 8")));
}

TEST_F(MergeTest, TheFirstActionThatFitsIsTaken) {
  expect_look(row("jones", "4"), row("ford", "5"));
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  run_statement(merge("when matched and emp.dept = d then do nothing when matched and emp.dept > 100 then update set dept = 0 when matched then delete"));
  EXPECT_EQ(tables_.affected_rows, 1u);
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("score- emp:zset 7"), HasSubstr("set- emp:indices:dept 4 7"), Not(HasSubstr(" 8"))));
}

TEST_F(MergeTest, WithoutAnActionNothingIsWritten) {
  expect_look(row("jones", "4"), none());
  run_statement(merge("when matched then do nothing when not matched and d > 100 then insert values (id, 'new', d)"));
  EXPECT_EQ(tables_.affected_rows, 0u);
}

TEST_F(MergeTest, ARowThatTwoSourceRowsMatchIsAnError) {
  redis_.expect({"HMGET emp:7 ename dept"}, {row("jones", "4")});
  EXPECT_EQ(error_of_statement("merge into emp using (values (7, 3), (7, 5)) as s (id, d) on emp.emp_id = s.id when matched then update set dept = d"),
            "21000 MERGE command cannot affect row a second time");
}

TEST_F(MergeTest, ARowThatIsWrongReachesNoWrite) {
  expect_look(none(), none());
  EXPECT_EQ(error_of_statement(merge("when not matched then insert values (id, null, d)")),
            "23502 null value in column \"ename\" of relation \"emp\" violates not-null constraint");
}

TEST_F(MergeTest, RowsThatWereChangedInBetweenMakeTheStatementRunAgain) {
  expect_look(row("jones", "4"), none());
  redis_.expect_call(kWriteScript, resp::array({resp::text("stop"), resp::integer(4)}));
  redis_.expect_call(kWriteManyScript, resp::array({resp::text("found"), resp::integer(10), resp::integer(0), resp::text("")}));
  redis_.expect({"HMGET emp:7 ename dept"}, {row("jones", "6")});
  EXPECT_THROW(run_statement(merge("when matched then update set dept = d")), WriteConflict);
}

}  // namespace
}  // namespace redquel::executor
