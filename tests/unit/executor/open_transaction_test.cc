// What an open transaction keeps, and what its end sends, over a fake Redis: savepoints, commits, lost answers, advisory locks, SET CONSTRAINTS.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/scripts/scripts.h"
#include "executor/storage/foreign_key_checks.h"
#include "executor/transaction/advisory_locks.h"
#include "executor/transaction/commit.h"
#include "executor/transaction/commit_fence.h"
#include "executor/transaction/increments.h"
#include "executor/transaction/set_constraints.h"
#include "executor/transaction/transaction.h"
#include "tests/unit/executor/fake_redis_client.h"
#include "tests/unit/executor/run_coroutine.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::executor {
namespace {

using sql::Datum;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OpenTransactionTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const sql::TableDef> employees() {
    sql::TableDef table = sql::make_table("emp", {{"emp_id", sql::kInt4}, {"ename", sql::kText}, {"dept", sql::kInt4}}, {"emp_id"});
    sql::add_index(table, {"dept"});
    sql::IndexDef& unique = sql::add_index(table, {"ename"}, true);
    unique.constraint->deferrable = true;
    return std::make_shared<const sql::TableDef>(std::move(table));
  }
  sql::CatalogPtr catalog() const {
    auto made = std::make_shared<sql::CatalogSnapshot>();
    made->version = "1";
    made->schemas["public"] = {2200, "public"};
    made->tables[emp_->oid] = emp_;
    return made;
  }
  static RowValues row(int id, const std::string& name, int dept) {
    return std::make_shared<const std::vector<Datum>>(std::vector<Datum>{Datum(id), Datum(name), Datum(dept)});
  }
  void change(int id, RowValues stored, RowValues current) { transaction_.buffer().set(emp_, std::to_string(id), {std::move(stored), std::move(current)}); }
  /// The name that the transaction sees under a key; "-": it has deleted the row, "": it has not changed it.
  std::string name_of(int id) const {
    const std::optional<BufferedRow> found = transaction_.buffer().find(emp_->oid, std::to_string(id));
    if (!found) return "";
    return found->current ? std::get<std::string>((*found->current)[1]) : "-";
  }
  std::string commit() {
    WriteOptions options;
    options.foreign_keys = std::make_shared<ForeignKeyChecks>(catalog(), sql::SessionSettings{},
                                                              [](const sql::ForeignKeyDef&) { return false; });
    CommitTrace trace;
    try {
      run_coroutine(loop_, commit_changes(redis_, transaction_, std::move(options), 2000, {}, random_, MappedPlace{access_, 0, "1"}, trace));
    } catch (const sql::SqlError& error) {
      return std::string(error.sqlstate());
    }
    return trace.kind == CommitTrace::Kind::kNothing ? "nothing sent" : "";
  }
  std::string set_constraints_error(std::vector<parser::ast::RelationName> names, bool deferred) {
    try {
      run_coroutine(loop_, set_constraints(redis_, {std::move(names), deferred}, session_, catalog()));
    } catch (const sql::SqlError& error) {
      return std::string(error.sqlstate()) + " " + error.message();
    }
    return "";
  }
  void TearDown() override { EXPECT_TRUE(redis_.is_done()); }

  std::shared_ptr<const sql::TableDef> emp_ = employees();
  boost::asio::io_context loop_;
  FakeRedisClient redis_;
  FakeRedisAccess access_{redis_};
  std::minstd_rand random_{1};
  Transaction transaction_{1};
  SessionState session_;
};

TEST_F(OpenTransactionTest, SavepointsTakeChangesAndSettingsBack) {
  change(7, nullptr, row(7, "smith", 3));
  transaction_.set_savepoint();
  change(7, nullptr, row(7, "jones", 4));
  change(8, row(8, "ford", 3), nullptr);
  transaction_.constraint_times().set_all(true);
  transaction_.set_savepoint();
  change(9, nullptr, row(9, "king", 1));
  EXPECT_EQ(name_of(7) + name_of(8) + name_of(9), "jones-king");

  transaction_.roll_back_to(1);
  EXPECT_EQ(name_of(7) + name_of(8) + name_of(9), "jones-");
  const std::int16_t ename[] = {2};
  EXPECT_TRUE(transaction_.constraint_times().is_deferred(*emp_, ename));

  transaction_.roll_back_to(0);
  EXPECT_EQ(name_of(7) + name_of(8) + name_of(9), "smith");
  EXPECT_FALSE(transaction_.constraint_times().is_deferred(*emp_, ename));
  EXPECT_EQ(transaction_.changed_tables(), std::set<sql::Oid>{emp_->oid});

  transaction_.release_savepoint(0);
  EXPECT_EQ(name_of(7), "smith") << "a released savepoint leaves the changes";
}

TEST_F(OpenTransactionTest, ReadersKeepTheChangesOfTheirStart) {
  change(7, nullptr, row(7, "smith", 3));
  const TableChangesPtr before = transaction_.buffer().changes(emp_->oid);
  change(7, nullptr, row(7, "jones", 4));
  EXPECT_EQ(std::get<std::string>((*before->find("7")->row.current)[1]), "smith");
  EXPECT_EQ(name_of(7), "jones");
}

TEST_F(OpenTransactionTest, UniqueValuesHaveTheOwnersThatTheTransactionSees) {
  change(7, row(7, "smith", 3), row(7, "jones", 3));
  const std::string uniques = "emp:uniques:ename";
  EXPECT_EQ(transaction_.buffer().owners(uniques, "jones"), std::vector<std::string>{"7"});
  EXPECT_EQ(transaction_.buffer().former_owner(uniques, "smith"), "7");
  EXPECT_TRUE(transaction_.buffer().owners(uniques, "smith").empty());
}

TEST_F(OpenTransactionTest, ACommitIsOneCallThatVerifiesWhatWasRead) {
  change(7, row(7, "smith", 3), row(7, "jones", 4));
  change(9, nullptr, row(9, "king", 1));
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  EXPECT_EQ(commit(), "");
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("emp:7"), HasSubstr("emp:9"), HasSubstr("jones"), HasSubstr("king"), HasSubstr("smith")));
}

TEST_F(OpenTransactionTest, ACommitWithoutChangesSendsNothing) { EXPECT_EQ(commit(), "nothing sent"); }

TEST_F(OpenTransactionTest, ARowThatHasChangedEndsTheCommit) {
  change(7, row(7, "smith", 3), row(7, "jones", 4));
  redis_.expect_call(kWriteScript, resp::array({resp::text("stop"), resp::integer(4)}));
  redis_.expect_call(kWriteManyScript, resp::array({resp::text("found"), resp::integer(11), resp::integer(0), resp::text("")}));
  redis_.expect({"HMGET emp:7 emp_id ename dept"}, {resp::texts({"7", "king", "3"})});
  EXPECT_EQ(commit(), "40001");
}

TEST_F(OpenTransactionTest, AnotherRedisThanAtTheBeginningEndsTheCommit) {
  change(7, nullptr, row(7, "jones", 4));
  redis_.set_generation(2);
  EXPECT_EQ(commit(), "40001");
  EXPECT_EQ(redis_.round_trips(), 0u);
}

TEST_F(OpenTransactionTest, ForeignTablesAreWrittenAsOneUser) {
  transaction_.write_as(5, nullptr);
  transaction_.write_as(5, nullptr);
  EXPECT_EQ(transaction_.writer_of(5), nullptr);
  EXPECT_THROW(transaction_.write_as(5, std::make_shared<RedisUser>(access_, "ann", "secret")), sql::SqlError);
}

TEST_F(OpenTransactionTest, ALostAnswerIsDecidedByTheFence) {
  const auto decide = [&] { return run_coroutine(loop_, decide_commit(redis_, "", {"redquel:commits:p", "1", "7"}, 1)); };
  redis_.expect_call(kFenceCommitScript, resp::text("committed"));
  EXPECT_EQ(decide(), CommitOutcome::kCommitted);
  redis_.expect_call(kFenceCommitScript, resp::text("fenced"));
  EXPECT_EQ(decide(), CommitOutcome::kFenced);
  redis_.set_generation(2);
  redis_.expect_call(kFenceCommitScript, resp::text("fenced"));
  EXPECT_EQ(decide(), CommitOutcome::kUnknown) << "another Redis may have lost it";
  redis_.expect_call(kFenceCommitScript, resp::error("LOADING Redis is loading the dataset in memory"));
  redis_.expect_call(kFenceCommitScript, resp::text("committed"));
  EXPECT_EQ(decide(), CommitOutcome::kCommitted) << "it asks until Redis answers";
}

TEST_F(OpenTransactionTest, SlotsOfCommitsAreUsedAgainWithLaterNumbers) {
  CommitSlots slots;
  const CommitToken first = slots.take(), second = slots.take();
  EXPECT_NE(first.slot, second.slot);
  slots.give_back(first);
  const CommitToken third = slots.take();
  EXPECT_EQ(third.slot, first.slot);
  EXPECT_GT(std::stoi(third.number), std::stoi(second.number));
}

TEST_F(OpenTransactionTest, SetConstraintsNamesDeferrableConstraints) {
  session_.transaction = std::make_shared<Transaction>(1);
  EXPECT_EQ(set_constraints_error({{"", "", "nosuch"}}, true), "42704 constraint \"nosuch\" does not exist");
  EXPECT_EQ(set_constraints_error({{"", "nosuch", "x"}}, true), "3F000 schema \"nosuch\" does not exist");
  EXPECT_EQ(set_constraints_error({{"", "", "emp_pkey"}}, true), "42809 constraint \"emp_pkey\" is not deferrable");
  EXPECT_EQ(set_constraints_error({{"", "", "emp_ename_key"}}, true), "");
  const std::int16_t ename[] = {2};
  EXPECT_TRUE(session_.transaction->constraint_times().is_deferred(*emp_, ename));
  EXPECT_EQ(set_constraints_error({}, false), "") << "without changes there is nothing to check";
  EXPECT_FALSE(session_.transaction->constraint_times().is_deferred(*emp_, ename));
}

TEST_F(OpenTransactionTest, SetConstraintsOutsideOfATransactionOnlyLooksAtTheNames) {
  EXPECT_EQ(set_constraints_error({{"", "", "emp_ename_key"}}, true), "");
  EXPECT_EQ(set_constraints_error({{"", "", "emp_dept_idx"}}, true), "42704 constraint \"emp_dept_idx\" does not exist");
}

TEST_F(OpenTransactionTest, AdvisoryLocksAreCountedAndTakenOnce) {
  AdvisoryLocks locks("p.1");
  const AdvisoryLocks::Lock exclusive{.key = 5}, shared{.key = 5, .shared = true}, within{.key = 5, .transaction = true};
  const auto take = [&](const AdvisoryLocks::Lock& lock) { return run_coroutine(loop_, locks.take(redis_, lock, std::nullopt, random_)); };
  const auto unlock = [&](const AdvisoryLocks::Lock& lock) { return run_coroutine(loop_, locks.unlock(redis_, lock)); };
  redis_.expect_script(kAdvisoryLockScript, "1 redquel:advisory 1:5 p.1 1 1", resp::text(""));
  EXPECT_TRUE(take(shared));
  redis_.expect_script(kAdvisoryLockScript, "1 redquel:advisory 1:5 p.1 4 1", resp::text("q.1"));
  EXPECT_FALSE(take(exclusive)) << "another owner has it shared";
  redis_.expect_script(kAdvisoryLockScript, "1 redquel:advisory 1:5 p.1 4 1", resp::text(""));
  EXPECT_TRUE(take(exclusive));
  EXPECT_TRUE(take(exclusive)) << "once more, without a round trip";
  EXPECT_TRUE(take(within));
  for (int held = 2; held > 0; --held) {
    redis_.expect_script(kAdvisoryLockScript, "1 redquel:advisory 1:5 p.1 4 0", resp::text(""));
    EXPECT_TRUE(unlock(exclusive)) << "Redis is asked whether the lock is still held";
  }
  EXPECT_FALSE(unlock(exclusive)) << "the transaction's own is not the session's";
  redis_.expect_script(kAdvisoryLockScript, "1 redquel:advisory 1:5 p.1 1 0", resp::text(""));
  run_coroutine(loop_, locks.end_transaction(redis_));
  redis_.expect_script(kAdvisoryLockScript, "1 redquel:advisory 1:5 p.1 0 0", resp::text(""));
  run_coroutine(loop_, locks.unlock_all(redis_));
}

TEST_F(OpenTransactionTest, AnAdvisoryLockThatIsLostIsNotHeld) {
  AdvisoryLocks locks("p.1");
  const AdvisoryLocks::Lock lock{.key = 5};
  redis_.expect_script(kAdvisoryLockScript, "1 redquel:advisory 1:5 p.1 4 1", resp::text(""));
  EXPECT_TRUE(run_coroutine(loop_, locks.take(redis_, lock, std::nullopt, random_)));
  EXPECT_TRUE(locks.any());
  redis_.expect_script(kAdvisoryLockScript, "1 redquel:advisory 1:5 p.1 0 0", resp::text("lost"));
  EXPECT_FALSE(run_coroutine(loop_, locks.unlock(redis_, lock)));
  EXPECT_FALSE(locks.any());
}

TEST_F(OpenTransactionTest, IncrementsOfTablesThatAreReadAgainLockAtOnceForAWhile) {
  IncrementHabits habits;
  EXPECT_FALSE(habits.locks_at_once(5));
  habits.note_look(5);
  EXPECT_TRUE(habits.locks_at_once(5));
  EXPECT_FALSE(habits.locks_at_once(6));
  int locked = 1;
  while (habits.locks_at_once(5)) ++locked;
  EXPECT_LT(locked, 1000) << "it finds out whether statements still read the table";
  EXPECT_FALSE(habits.locks_at_once(5));
}

}  // namespace
}  // namespace redquel::executor
