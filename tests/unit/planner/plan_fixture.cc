#include "tests/unit/planner/plan_fixture.h"

#include "parser/parse.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::planner {

namespace {

sql::CatalogSnapshot make_indexed_catalog() {
  sql::CatalogSnapshot catalog;
  catalog.schemas["public"] = {2200, "public"};
  sql::TableDef emp = sql::make_table("emp",
                                      {{"emp_id", sql::kInt4}, {"ename", sql::kText}, {"dept", sql::kInt4}, {"salary", sql::kFloat8},
                                       {"hired", sql::kDate}, {"email", sql::kText}},
                                      {"emp_id"});
  emp.oid = kEmp;
  emp.columns[1].not_null = true;
  sql::add_index(emp, {"dept"});
  sql::add_index(emp, {"salary"});
  sql::add_index(emp, {"hired"}, false, sql::IndexMethod::kZset);
  sql::add_index(emp, {"email"}, true);
  sql::TableDef dept = sql::make_table("dept", {{"id", sql::kInt4}, {"name", sql::kText}}, {"id"});
  dept.oid = kDept;
  dept.columns[1].not_null = true;
  catalog.tables[kEmp] = std::make_shared<const sql::TableDef>(std::move(emp));
  catalog.tables[kDept] = std::make_shared<const sql::TableDef>(std::move(dept));
  return catalog;
}

}  // namespace

const sql::CatalogSnapshot& indexed_catalog() {
  static const sql::CatalogSnapshot catalog = make_indexed_catalog();
  return catalog;
}

PhysicalPlan planned(const std::string& statement, const std::set<sql::Oid>& changed, bool reads_memory) {
  BindSettings settings;
  settings.reads_memory = reads_memory;
  const auto parsed = parser::parse(statement);
  return plan(*parsed.at(0).statement, indexed_catalog(), {}, settings, changed).plan;
}

std::string explained(const PhysicalPlan& plan, const ExplainOptions& options) {
  std::string text = "\n";
  for (const std::string& line : explain(plan, options, nullptr, 0, 0)) text += line + "\n";
  return text;
}

std::string explained(const std::string& statement, const ExplainOptions& options) { return explained(planned(statement), options); }

}  // namespace redquel::planner
