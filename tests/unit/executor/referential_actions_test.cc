// ON DELETE and ON UPDATE over a fake Redis: which rows refer to a changed one, and what becomes of them.

#include <gmock/gmock.h>

#include "executor/scripts/scripts.h"
#include "executor/storage/write_conflict.h"
#include "tests/unit/executor/planned_statements.h"

namespace redquel::executor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Action = sql::ForeignKeyDef::Action;

/// dept(id PRIMARY KEY, name), emp(emp_id PRIMARY KEY, ename, dept REFERENCES dept …).
class ReferentialActionsTest : public PlannedStatementTest {
 protected:
  explicit ReferentialActionsTest(Action on_delete, Action on_update = Action::kNoAction)
      : PlannedStatementTest(catalog_with_key(on_delete, on_update)) {}

  static sql::CatalogPtr catalog_with_key(Action on_delete, Action on_update) {
    auto catalog = std::make_shared<sql::CatalogSnapshot>(*make_catalog());
    sql::TableDef dept = *catalog->find_table("", "dept", {"public"});
    sql::TableDef emp = *catalog->find_table("", "emp", {"public"});
    sql::IndexDef hidden;
    hidden.oid = 16500;
    hidden.parts.push_back({3, false, false});
    hidden.method = sql::IndexMethod::kHash;
    emp.indexes.push_back(hidden);
    sql::ForeignKeyDef key;
    key.oid = 16501;
    key.name = "emp_dept_fkey";
    key.columns = {3};
    key.referenced = dept.oid;
    key.referenced_columns = {1};
    key.referenced_index = dept.primary_key_index.oid;
    key.index = hidden.oid;
    key.on_delete = on_delete;
    key.on_update = on_update;
    emp.foreign_keys.push_back(key);
    dept.referencing.push_back(emp.oid);
    catalog->tables[emp.oid] = std::make_shared<const sql::TableDef>(std::move(emp));
    catalog->tables[dept.oid] = std::make_shared<const sql::TableDef>(std::move(dept));
    return catalog;
  }
  /// The department that the statement changes, and the employees who refer to it.
  void expect_department(const std::string& name) { redis_.expect({"HMGET dept:3 name"}, {resp::texts({name})}); }
  void expect_none() { redis_.expect({"HMGET dept:3 name"}, {resp::array({resp::nil()})}); }
  void expect_children(const std::vector<std::string>& members) {
    redis_.expect({"SCARD emp:indices:dept:3"}, {resp::integer(static_cast<long long>(members.size()))});
    if (!members.empty()) redis_.expect({"SMEMBERS emp:indices:dept:3"}, {resp::texts(members)});
  }
};

class CascadeTest : public ReferentialActionsTest {
 protected:
  CascadeTest() : ReferentialActionsTest(Action::kCascade, Action::kCascade) {}
};
class SetNullTest : public ReferentialActionsTest {
 protected:
  SetNullTest() : ReferentialActionsTest(Action::kSetNull) {}
};
class NoActionTest : public ReferentialActionsTest {
 protected:
  NoActionTest() : ReferentialActionsTest(Action::kNoAction) {}
};

TEST_F(CascadeTest, RowsThatReferToADeletedOneAreDeletedWithIt) {
  expect_department("sales");
  expect_children({"7", "9"});
  redis_.expect({"HMGET emp:7 ename dept", "HMGET emp:9 ename dept"}, {resp::texts({"smith", "3"}), resp::texts({"jones", "3"})});
  redis_.expect_call(kWriteManyScript, resp::texts({"applied"}));
  EXPECT_EQ(run_statement("delete from dept where id = 3"), Rows{});
  EXPECT_EQ(tables_.affected_rows, 1u) << "rows of other tables do not count";
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("dept:3"), HasSubstr("emp:7"), HasSubstr("emp:9")));
}

TEST_F(CascadeTest, RowsFollowAChangedKey) {
  expect_department("sales");
  expect_children({"7"});
  redis_.expect({"HMGET emp:7 ename dept"}, {resp::texts({"smith", "3"})});
  redis_.expect_call(kWriteManyScript, resp::texts({"applied"}));
  run_statement("update dept set id = 4 where id = 3");
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("hsets 4 1 name dept:4 sales"), HasSubstr("sets+ 4 emp:indices:dept 4 1 7")));
}

TEST_F(CascadeTest, AChangeOfAnotherColumnLooksForNoRows) {
  expect_department("sales");
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  run_statement("update dept set name = 'law' where id = 3");
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("hset 3 dept:3 name law"), Not(HasSubstr("emp:"))));
}

TEST_F(CascadeTest, OfARowThatIsNotThereNothingIsLookedFor) {
  expect_none();
  run_statement("delete from dept where id = 3");
  EXPECT_EQ(tables_.affected_rows, 0u);
}

TEST_F(SetNullTest, RowsThatReferToADeletedOneLoseTheirReference) {
  expect_department("sales");
  expect_children({"7"});
  redis_.expect({"HMGET emp:7 ename dept"}, {resp::texts({"smith", "3"})});
  redis_.expect_call(kWriteManyScript, resp::texts({"applied"}));
  run_statement("delete from dept where id = 3");
  EXPECT_THAT(redis_.last_command(), AllOf(HasSubstr("emp:7"), HasSubstr("emp:indices:dept:%N")));
}

TEST_F(NoActionTest, TheScriptSaysThatRowsStillRefer) {
  expect_department("sales");
  redis_.expect_call(kWriteScript, resp::texts({"applied"}));
  run_statement("delete from dept where id = 3");
  EXPECT_THAT(redis_.last_command(), HasSubstr("no_children emp:indices:dept:3"));
}

}  // namespace
}  // namespace redquel::executor
