#pragma once

#include <memory>

#include "executor/runtime/row_store.h"
#include "planner/tree/physical_plan.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// One end of the frame of RANGE with an offset: among a partition's rows in order, the first whose value is not before (for the end:
/// beyond) the current row's value plus or minus the offset. NULLs are peers of each other and of nothing else.
class RangeEdge {
 public:
  virtual ~RangeEdge() = default;

  /// Rows are asked for in order; the answer only moves on within a partition.
  RowNumber find(RowNumber row, RowNumber partition_begin, RowNumber partition_end);

 protected:
  RangeEdge(sql::ColumnPtr values, const planner::SortKey& key, bool preceding, bool is_end);

  /// PostgreSQL's in_range: whether the value of `row` is, in the order of values, at or beyond base ± offset (`less`: at or before).
  virtual bool in_range(RowNumber row, RowNumber base, bool subtract, bool less) const = 0;

  sql::ColumnPtr values_;

 private:
  bool nulls_first_, is_end_, subtract_, less_;
  RowNumber partition_ = kNoRow, found_ = 0;
};

/// `values` is the decoded column of the ORDER BY key, `offset` not NULL. 22013 "invalid preceding or following size in window function".
std::unique_ptr<RangeEdge> make_range_edge(sql::ColumnPtr values, const planner::SortKey& key, const sql::Datum& offset,
                                             bool preceding, bool is_end, const sql::EvaluationContext& context);

}  // namespace redquel::executor
