#pragma once

#include "executor/storage/row_reader.h"

namespace redquel::executor {

/// Reads of a table's rows only what its condition asks for, so that just the rows that satisfy it need be read whole: worth while where
/// rows are wide and few of them do.
class ConditionReader {
 public:
  /// `read` has a condition.
  ConditionReader(const planner::TableRead& read, TableChangesPtr changes);

  RowReader& rows() { return reader_; }
  /// The members of the rows read so far that satisfy the condition. Starts anew.
  std::vector<std::string> take_members(const sql::EvaluationContext& context);
  /// Returns true if reading so is cheaper than reading all of each row, for this share of rows that satisfy the condition.
  bool is_cheaper(const RowReader& whole, double share) const;

 private:
  planner::TableRead read_;
  RowReader reader_;
};

}  // namespace redquel::executor
