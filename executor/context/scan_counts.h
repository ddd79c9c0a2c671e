#pragma once

#include <cstddef>

#include "planner/tree/physical_plan.h"
#include "sql/relation_counts.h"

namespace redquel::executor {

/// The counts of one scan of a table: the scan itself when it begins, its rows later.
class ScanCounts {
 public:
  /// Counts nothing.
  ScanCounts() = default;
  /// Counts a scan if the node reads a table or an index. `counts` may be null.
  ScanCounts(const planner::PhysicalNode& node, sql::RelationCounts* counts);

  void add_rows(std::size_t rows) {
    if (rows_ != nullptr) rows_->add(rows);
    if (index_rows_ != nullptr) index_rows_->add(rows);
  }

 private:
  sql::Count* rows_ = nullptr;        // of the table
  sql::Count* index_rows_ = nullptr;  // of the index, if the scan uses one alone
};

}  // namespace redquel::executor
