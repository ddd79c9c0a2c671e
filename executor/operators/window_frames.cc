#include "executor/operators/window_frames.h"

#include <algorithm>

#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using planner::FrameBound;
using planner::FrameMode;
using sql::RowRange;

RowNumber WindowPosition::group_begin(std::size_t group) const {
  const std::size_t index = first_group_ + group;
  return index < section_.peers.size() ? std::min(section_.peers[index], partition_end()) : partition_end();
}

void WindowPosition::step() {
  ++row_;
  if (row_ >= section_.rows.rows) return;
  if (row_ == peers_end()) ++group_;
  if (row_ == partition_end()) {
    ++partition_;
    first_group_ = group_;
  }
}

namespace {

sql::Datum evaluate_offset(const sql::ExpressionPtr& offset, const char* which, const planner::WindowFrame& frame,
                           const sql::EvaluationContext& context) {
  if (!offset) return {};
  sql::Datum value = sql::evaluate_scalar(*offset, context);
  if (sql::is_null(value)) throw sql::SqlError(sqlstate::kNullValueNotAllowed, std::string("frame ") + which + " offset must not be null");
  if (frame.mode != FrameMode::kRange && std::get<std::int64_t>(value) < 0) {
    throw sql::SqlError(sqlstate::kInvalidPrecedingOrFollowingSize, std::string("frame ") + which + " offset must not be negative");
  }
  return value;
}

std::size_t row_count_of(const sql::Datum& offset, std::size_t most) {
  const auto* rows = std::get_if<std::int64_t>(&offset);
  return rows == nullptr ? 0 : std::min(static_cast<std::size_t>(*rows), most);
}

}  // namespace

FrameOffsets evaluate_offsets(const planner::WindowFrame& frame, const sql::EvaluationContext& context) {
  return {evaluate_offset(frame.start_offset, "starting", frame, context),
          evaluate_offset(frame.end_offset, "ending", frame, context)};
}

FrameWalk::FrameWalk(const WindowSection& section, const planner::WindowFrame& frame, const FrameOffsets& offsets,
                     const planner::SortKey* key, sql::ColumnPtr order, const sql::EvaluationContext& context)
    : frame_(frame), position_(section) {
  if (frame.mode != FrameMode::kRange) {
    start_offset_ = row_count_of(offsets.start, section.rows.rows);
    end_offset_ = row_count_of(offsets.end, section.rows.rows);
    return;
  }
  if (frame.start_offset) {
    start_range_ = make_range_edge(order, *key, offsets.start, frame.start == FrameBound::kOffsetPreceding, false, context);
  }
  if (frame.end_offset) {
    end_range_ = make_range_edge(order, *key, offsets.end, frame.end == FrameBound::kOffsetPreceding, true, context);
  }
}

RowNumber FrameWalk::rows_away(bool back, std::size_t offset, bool is_end) const {
  const std::size_t row = position_.row() + (is_end ? 1 : 0), first = position_.partition_begin();
  if (back) return static_cast<RowNumber>(row - first < offset ? first : row - offset);
  return static_cast<RowNumber>(std::min<std::size_t>(row + offset, position_.partition_end()));
}

RowNumber FrameWalk::groups_away(bool back, std::size_t offset, bool is_end) const {
  const std::size_t group = position_.group() + (is_end ? 1 : 0);
  if (back) return position_.group_begin(group < offset ? 0 : group - offset);
  return position_.group_begin(group + offset);
}

RowNumber FrameWalk::begin() {
  const bool back = frame_.start == FrameBound::kOffsetPreceding;
  if (frame_.start == FrameBound::kUnboundedPreceding) return position_.partition_begin();
  if (frame_.start == FrameBound::kCurrentRow)
    return frame_.mode == FrameMode::kRows ? position_.row() : position_.peers_begin();
  if (frame_.mode == FrameMode::kRows) return rows_away(back, start_offset_, false);
  if (frame_.mode == FrameMode::kGroups) return groups_away(back, start_offset_, false);
  return start_range_->find(position_.row(), position_.partition_begin(), position_.partition_end());
}

RowNumber FrameWalk::end() {
  const bool back = frame_.end == FrameBound::kOffsetPreceding;
  if (frame_.end == FrameBound::kUnboundedFollowing) return position_.partition_end();
  if (frame_.end == FrameBound::kCurrentRow)
    return frame_.mode == FrameMode::kRows ? position_.row() + 1 : position_.peers_end();
  if (frame_.mode == FrameMode::kRows) return rows_away(back, end_offset_, true);
  if (frame_.mode == FrameMode::kGroups) return groups_away(back, end_offset_, true);
  return end_range_->find(position_.row(), position_.partition_begin(), position_.partition_end());
}

sql::FrameRows FrameWalk::frame() {
  const RowRange all = {begin(), end()};
  if (all.empty()) return {};
  RowRange hole;
  switch (frame_.exclusion) {
    case planner::FrameExclusion::kNoOthers:
      return {all};
    case planner::FrameExclusion::kCurrentRow:
      hole = {position_.row(), position_.row() + 1};
      break;
    case planner::FrameExclusion::kGroup:
    case planner::FrameExclusion::kTies:
      hole = {position_.peers_begin(), position_.peers_end()};
      break;
  }
  sql::FrameRows frame;
  std::size_t pieces = 0;
  const auto add = [&](RowNumber from, RowNumber to) {
    const RowRange piece = {std::max(all.begin, from), std::min(all.end, to)};
    if (!piece.empty()) frame[pieces++] = piece;
  };
  add(all.begin, hole.begin);
  if (frame_.exclusion == planner::FrameExclusion::kTies) add(position_.row(), position_.row() + 1);
  add(hole.end, all.end);
  return frame;
}

}  // namespace redquel::executor
