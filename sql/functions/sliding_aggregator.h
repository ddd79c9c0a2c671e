#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sql/column.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

struct RowRange {
  std::uint32_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  std::uint32_t size() const { return empty() ? 0 : end - begin; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};
/// The rows of one window frame, in order: EXCLUDE leaves up to three pieces. Pieces that are not used are empty and last.
using FrameRows = std::array<RowRange, 3>;

/// The interface of an Aggregator that can follow a window's frames instead of aggregating each anew.
class SlidingAggregator {
 public:
  virtual ~SlidingAggregator() = default;
  /// One value per frame over rows of the arguments, with the state that the call before left, so that frames that grow at their end
  /// cost no more than their new rows.
  virtual ColumnPtr slide(std::span<const ColumnPtr> arguments, std::span<const FrameRows> frames) = 0;
  /// Rows are taken out again: frames that move at both ends cost no more than what changes.
  virtual bool removes_rows() const = 0;
};

}  // namespace redquel::sql
