// Statements that write, over a fake Redis: the commands that they send, and the meaning of the scripts' replies.

#include <gmock/gmock.h>

#include "executor/scripts/scripts.h"
#include "executor/storage/locks.h"
#include "executor/storage/write_conflict.h"
#include "tests/unit/executor/planned_statements.h"

namespace redquel::executor {
namespace {

using ::testing::HasSubstr;

class WriteStatementsTest : public PlannedStatementTest {
 protected:
  Rows run(const std::string& statement) { return run_statement(statement); }
  std::string error_of(const std::string& statement) { return error_of_statement(statement); }
};

/// The answer of a program that the step at this place has stopped.
std::string stop(int position) { return resp::array({resp::text("stop"), resp::integer(position)}); }

TEST_F(WriteStatementsTest, InsertOfARowIsOneCall) {
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  EXPECT_EQ(run("insert into emp values (7, 'smith', 3)"), Rows{});
  EXPECT_EQ(tables_.affected_rows, 1u);
  for (const char* words : {"hset 5 emp:7 ename smith dept 3", "score+ emp:zset 7 7", "set+ emp:indices:dept 3 7", "score+ emp:zset:dept 3 7"}) {
    EXPECT_THAT(redis_.last_command(), HasSubstr(words));
  }
}

TEST_F(WriteStatementsTest, ReturningGivesTheRowAsItWasWritten) {
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  EXPECT_EQ(run("insert into emp values (7, 'smith', 3) returning dept + 1, ename"), Rows{"4|smith"});
}

TEST_F(WriteStatementsTest, RowsThatAreWrongReachNoRedis) {
  EXPECT_EQ(error_of("insert into emp values (7, null, 3)"), "23502 null value in column \"ename\" of relation \"emp\" violates not-null constraint");
  EXPECT_EQ(error_of("insert into emp values (7, 'smith', 3), (null, 'jones', 3)"),
            "23502 null value in column \"emp_id\" of relation \"emp\" violates not-null constraint");
  EXPECT_EQ(redis_.round_trips(), 0u);
}

TEST_F(WriteStatementsTest, WhatStopsAProgramIsFoundOutByOneOfManyRows) {
  redis_.expect_call(kWriteScript, stop(1));
  redis_.expect_call(kWriteManyScript, resp::texts({"applied"}));
  run("insert into emp values (7, 'smith', 3)");
  EXPECT_EQ(tables_.affected_rows, 1u);
}

TEST_F(WriteStatementsTest, RepliesOfTheWritingScriptEndTheRun) {
  const auto refused = [&](const std::string& reply) {
    redis_.expect_call(kWriteScript, stop(1));
    redis_.expect_call(kWriteManyScript, reply);
    run("insert into emp values (7, 'smith', 3)");
  };
  EXPECT_THROW(refused(stop(1)), StaleCatalog);
  EXPECT_THROW(refused(resp::array({resp::text("stop"), resp::integer(4), resp::text("p.1.2"), resp::text("r7")})), LockedByOther);
  EXPECT_THROW(refused(resp::texts({"what"})), sql::SqlError);
}

TEST_F(WriteStatementsTest, UpdateByKeyNeedsNoRead) {
  tables_.allows_unread_increments = true;
  const std::string words =
      "0 version 16384 1 take 3 emp:7 ename dept respect 4 redquel:locks:16384 \"\" 3 r7 count redquel:changes:16384 hset 3 emp:7 dept 4 "
      "move emp:indices:dept 4 7 2 rescore emp:zset:dept 4 7 2 4 mark emp:indices:dept:%N 7 2 4";
  redis_.expect_script(kWriteScript, words, resp::texts({"applied"}));
  EXPECT_EQ(run("update emp set dept = 4 where emp_id = 7"), Rows{});
  EXPECT_EQ(tables_.affected_rows, 1u);

  redis_.expect_script(kWriteScript, words, stop(4));
  run("update emp set dept = 4 where emp_id = 7");
  EXPECT_EQ(tables_.affected_rows, 1u) << "there was no row";
}

TEST_F(WriteStatementsTest, RepliesOfTheUpdatingScriptEndTheRun) {
  tables_.allows_unread_increments = true;
  const auto refused = [&](const std::string& reply) {
    redis_.expect_call(kWriteScript, reply);
    run("update emp set dept = 4 where emp_id = 7");
  };
  EXPECT_THROW(refused(stop(1)), StaleCatalog);
  EXPECT_THROW(refused(stop(15)), WriteConflict) << "the counter of changes";
  EXPECT_THROW(refused(stop(2)), sql::SqlError) << "no step is there";
  EXPECT_THROW(refused(resp::texts({"what"})), sql::SqlError);
  EXPECT_THROW(refused(resp::array({})), sql::SqlError);
  try {
    refused(resp::array({resp::text("stop"), resp::integer(9), resp::text("p.1.2"), resp::text("r7")}));
    FAIL() << "the row is locked";
  } catch (const LockedByOther& locked) {
    EXPECT_EQ(locked.conflict.holder, "p.1.2");
    EXPECT_EQ(locked.conflict.key, "redquel:locks:16384");
    EXPECT_EQ(locked.conflict.field, "r7");
  }
}

TEST_F(WriteStatementsTest, OfARowThatIsNotThereNothingIsDeleted) {
  redis_.expect({"HMGET emp:7 ename dept"}, {resp::array({resp::nil(), resp::nil()})});
  EXPECT_EQ(run("delete from emp where emp_id = 7"), Rows{});
  EXPECT_EQ(tables_.affected_rows, 0u);
}

TEST_F(WriteStatementsTest, DeletesNameTheEntriesOfTheRowThatWasRead) {
  redis_.expect({"HMGET emp:7 ename dept"}, {resp::texts({"smith", "3"})});
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  EXPECT_EQ(run("delete from emp where emp_id = 7 returning ename"), Rows{"smith"});
  for (const char* words : {"set- emp:indices:dept 3 7", "score- emp:zset:dept 7", "score- emp:zset 7"}) {
    EXPECT_THAT(redis_.last_command(), HasSubstr(words));
  }
}

}  // namespace
}  // namespace redquel::executor
