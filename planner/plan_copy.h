#pragma once

#include "planner/copy_options.h"
#include "planner/plan.h"

namespace redquel::planner {

/// The plan of a COPY.
struct PlannedCopy {
  /// TO: the rows that go out, with the columns of the data. FROM: an insert whose source stands for the data: it has their columns
  /// and no rows.
  PlannedStatement rows;
  CopyOptions options;
  std::string relation;          // FROM: for the context of errors
  sql::Oid table = 0;            // that is copied; 0: TO, of a query
  sql::ExpressionPtr condition;  // FROM: WHERE over the data's columns; null: every row
};

/// Throws what INSERT and SELECT throw, `check_copy_options`, 42701 and 42P10 for column lists, 42501 for files and programs: redquel
/// reads and writes no files of its machine, not even for superusers. `changed_tables`: see `plan`.
PlannedCopy plan_copy(const parser::ast::Copy& copy, const sql::CatalogSnapshot& catalog, const BindSettings& settings,
                      const std::set<sql::Oid>& changed_tables = {});

}  // namespace redquel::planner
