#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/storage/write_unit.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::executor {

/// Changes of the rows of a table.
class EmployeeRowsTest : public ::testing::Test {
 protected:
  using Datum = sql::Datum;
  using Row = std::vector<sql::Datum>;

  static Datum text_value(std::string value) { return Datum(std::move(value)); }
  /// emp(emp_id pk, ename not null, dept with an index, email unique).
  static std::shared_ptr<const sql::TableDef> employees() {
    sql::TableDef table = sql::make_table("emp", {{"emp_id", sql::kInt4}, {"ename", sql::kText}, {"dept", sql::kInt4}, {"email", sql::kText}}, {"emp_id"});
    table.columns[1].not_null = true;
    sql::add_index(table, {"dept"});
    sql::add_index(table, {"email"}, true);
    return std::make_shared<const sql::TableDef>(std::move(table));
  }

  std::shared_ptr<const sql::TableDef> emp_ = employees();
  const Row ann_ = {Datum(1), text_value("ann"), Datum(7), text_value("ann@x")};
  const Row cid_ = {Datum(3), text_value("cid"), Datum(), Datum()};
};

}  // namespace redquel::executor
