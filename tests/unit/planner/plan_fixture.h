#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "planner/explain/explain.h"
#include "planner/plan.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

/// The catalog of the tests of physical plans, as these statements would make it:
///   CREATE TABLE emp(emp_id int PRIMARY KEY, ename text NOT NULL, dept int, salary float8, hired date, email text UNIQUE);
///   CREATE INDEX ON emp (dept);  CREATE INDEX ON emp (salary);  CREATE INDEX ON emp USING zset (hired);
///   CREATE TABLE dept(id int PRIMARY KEY, name text NOT NULL);
const sql::CatalogSnapshot& indexed_catalog();

/// Plans one statement over that catalog. `changed`: tables of which the open transaction has changed rows.
PhysicalPlan planned(const std::string& statement, const std::set<sql::Oid>& changed = {}, bool reads_memory = false);
/// The plan as EXPLAIN prints it, behind an empty line.
std::string explained(const std::string& statement, const ExplainOptions& options = {});
std::string explained(const PhysicalPlan& plan, const ExplainOptions& options = {});

inline constexpr sql::Oid kEmp = 30000, kDept = 31000;

}  // namespace redquel::planner
