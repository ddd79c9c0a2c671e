// Locks of rows that a query has read, over a fake Redis.

#include "executor/transaction/row_locks.h"

#include <gtest/gtest.h>

#include "executor/scripts/scripts.h"
#include "tests/unit/executor/fake_redis_client.h"
#include "tests/unit/executor/run_coroutine.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::executor {
namespace {

using planner::RowLock;
using sql::Datum;
using resp::array;
using resp::integer;
using resp::text;
using resp::texts;

class RowLocksTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const sql::TableDef> employees() {
    sql::TableDef table = sql::make_table("emp", {{"emp_id", sql::kInt4}, {"ename", sql::kText}, {"dept", sql::kInt4}}, {"emp_id"});
    table.columns[1].not_null = true;
    return std::make_shared<const sql::TableDef>(std::move(table));
  }
  /// Rows 7 and 9, of which the key, the name and the department have been read.
  RowLockRequest request(RowLock lock, std::string token) {
    locked_.emplace(emp_, lock, std::vector<std::int16_t>{1, 2, 3});
    RowLockRequest made({locked_->request()}, std::move(token));
    locked_->add_row(made, {Datum(7), Datum(std::string("smith")), Datum(3)}, nullptr);
    locked_->add_row(made, {Datum(9), Datum(std::string("jones")), Datum()}, nullptr);
    return made;
  }
  RowLockRequest::Answer execute(RowLockRequest request, std::optional<std::size_t> wanted) {
    return run_coroutine(loop_, request.execute(redis_, wanted, &held_, nullptr));
  }
  void TearDown() override { EXPECT_TRUE(redis_.is_done()); }

  const PlacedTable place() const { return PlacedTable(*emp_); }

  std::shared_ptr<const sql::TableDef> emp_ = employees();
  boost::asio::io_context loop_;
  FakeRedisClient redis_;
  std::optional<LockedTable> locked_;
  LockSet held_;
};

constexpr const char* kRows = "r7 1 + =smith =3 r9 1 + =jones -";

TEST_F(RowLocksTest, RowsAreLockedByOneCallIfTheyAreWhatWasRead) {
  redis_.expect_script(kLockRowsScript, std::string("3 redquel:locks:16384 emp:7 emp:9 p.1.2 \"\" 1 4 b 3 ename ename dept ") + kRows,
                       array({text("done"), text("lc"), array({})}));
  const RowLockRequest::Answer answer = execute(request({RowLock::Strength::kUpdate, RowLock::Wait::kBlock}, "p.1.2"), std::nullopt);
  EXPECT_EQ(answer.states, "lc");
  EXPECT_FALSE(answer.conflict);
  EXPECT_EQ(held_.size(), 2u) << "a row that has changed is locked, too";
}

TEST_F(RowLocksTest, RowsOfOthersAreSkipped) {
  redis_.expect_script(kLockRowsScript, std::string("3 redquel:locks:16384 emp:7 emp:9 p.1.2 1 1 2 s 3 ename ename dept ") + kRows,
                       array({text("done"), text("sl"), array({})}));
  const RowLockRequest::Answer answer = execute(request({RowLock::Strength::kShare, RowLock::Wait::kSkipLocked}, "p.1.2"), 1);
  EXPECT_EQ(answer.states, "sl");
  EXPECT_EQ(held_.size(), 1u);
}

TEST_F(RowLocksTest, ALockOfAnotherIsNamed) {
  redis_.expect_call(kLockRowsScript, texts({"locked", "l", "q.1.2", "redquel:locks:16384", "r9"}));
  const RowLockRequest::Answer answer = execute(request({}, "p.1.2"), std::nullopt);
  ASSERT_TRUE(answer.conflict);
  EXPECT_EQ(answer.conflict->holder, "q.1.2");
  EXPECT_EQ(answer.conflict->field, "r9");
  EXPECT_EQ(held_.size(), 1u) << "the first row stays locked";
}

TEST_F(RowLocksTest, NoWaitNamesTheTable) {
  redis_.expect_call(kLockRowsScript, array({text("refused"), text(""), integer(0)}));
  const RowLockRequest::Answer answer = execute(request({RowLock::Strength::kUpdate, RowLock::Wait::kNoWait}, "p.1.2"), std::nullopt);
  EXPECT_EQ(answer.not_waited_for, 0u);
  EXPECT_TRUE(held_.empty());
}

TEST_F(RowLocksTest, ALapsedLeaseEndsTheTransaction) {
  redis_.expect_call(kLockRowsScript, texts({"lost"}));
  EXPECT_THROW(execute(request({}, "p.1.2"), std::nullopt), sql::SqlError);
  EXPECT_TRUE(held_.empty());
}

TEST_F(RowLocksTest, ALookLocksNothing) {
  redis_.expect_script(kLockRowsScript, std::string("3 redquel:locks:16384 emp:7 emp:9 \"\" \"\" 1 4 b 3 ename ename dept ") + kRows,
                       array({text("done"), text("ll"), array({})}));
  EXPECT_EQ(execute(request({}, ""), std::nullopt).states, "ll");
  EXPECT_TRUE(held_.empty());
}

}  // namespace
}  // namespace redquel::executor
