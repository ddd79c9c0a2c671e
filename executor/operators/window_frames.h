#pragma once

#include <memory>
#include <vector>

#include "executor/operators/window_range.h"
#include "executor/runtime/row_store.h"
#include "planner/tree/physical_plan.h"
#include "sql/evaluation_context.h"
#include "sql/functions/sliding_aggregator.h"

namespace redquel::executor {

/// Whole partitions of a window's sorted input.
struct WindowSection {
  sql::Batch rows;
  std::vector<RowNumber> partitions;  // first row of each, then the number of rows
  std::vector<RowNumber> peers;       // the same of the groups of rows that are equal in order, within partitions
};

/// A row of a section, with its partition and its peers; steps from row to row.
class WindowPosition {
 public:
  explicit WindowPosition(const WindowSection& section) : section_(section) {}

  RowNumber row() const { return row_; }
  RowNumber partition_begin() const { return section_.partitions[partition_]; }
  RowNumber partition_end() const { return section_.partitions[partition_ + 1]; }
  RowNumber partition_size() const { return partition_end() - partition_begin(); }
  RowNumber peers_begin() const { return section_.peers[group_]; }
  RowNumber peers_end() const { return section_.peers[group_ + 1]; }
  /// Number of the row's peers among the groups of its partition, from 0.
  std::size_t group() const { return group_ - first_group_; }
  /// First row of a group of the partition; its end where there are not so many.
  RowNumber group_begin(std::size_t group) const;
  bool begins_partition() const { return row_ == partition_begin(); }
  void step();

 private:
  const WindowSection& section_;
  RowNumber row_ = 0;
  std::size_t partition_ = 0, group_ = 0, first_group_ = 0;
};

/// The offsets of a frame clause, computed once per run. 22004 for NULL, 22013 for negative ones.
struct FrameOffsets {
  sql::Datum start, end;
};
FrameOffsets evaluate_offsets(const planner::WindowFrame&, const sql::EvaluationContext&);

/// The frames of a section's rows, one after another.
class FrameWalk {
 public:
  /// `order` is the column of the one ORDER BY key where RANGE has an offset, else null.
  FrameWalk(const WindowSection& section, const planner::WindowFrame& frame, const FrameOffsets& offsets,
            const planner::SortKey* key, sql::ColumnPtr order, const sql::EvaluationContext& context);

  const WindowPosition& position() const { return position_; }
  /// Returns the frame of the position's row, before `step`.
  sql::FrameRows frame();
  void step() { position_.step(); }

 private:
  RowNumber begin();
  RowNumber end();
  /// Rows or groups from the position's own to `offset` before or after it, within the partition.
  RowNumber rows_away(bool back, std::size_t offset, bool is_end) const;
  RowNumber groups_away(bool back, std::size_t offset, bool is_end) const;

  const planner::WindowFrame& frame_;
  WindowPosition position_;
  std::size_t start_offset_ = 0, end_offset_ = 0;  // of ROWS and GROUPS
  std::unique_ptr<RangeEdge> start_range_, end_range_;
};

}  // namespace redquel::executor
