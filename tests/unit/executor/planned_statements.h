#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parser/parse.h"
#include "planner/plan.h"
#include "tests/unit/executor/operator_plans.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::executor {

/// Statements over a fake Redis, planned from SQL:
///   CREATE TABLE emp(emp_id int PRIMARY KEY, ename text NOT NULL, dept int);  CREATE INDEX ON emp (dept);
///   CREATE TABLE dept(id int PRIMARY KEY, name text NOT NULL);
class PlannedStatementTest : public OperatorTest {
 protected:
  explicit PlannedStatementTest(sql::CatalogPtr catalog = make_catalog()) : catalog_(std::move(catalog)) { tables_.sequences = &sequences_; }

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
  Rows run_statement(const std::string& statement) {
    plans_.push_back(planned(statement));
    return run(plans_.back());
  }
  /// SQLSTATE and message.
  std::string error_of_statement(const std::string& statement) {
    try {
      run_statement(statement);
    } catch (const sql::SqlError& error) {
      return std::string(error.sqlstate()) + " " + error.message();
    }
    return "";
  }
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

  sql::SessionSequences sequences_;
  sql::CatalogPtr catalog_;
  ExecutionContext tables_{redis_, redis_, catalog_, evaluation(), make_operator};
};

}  // namespace redquel::executor
