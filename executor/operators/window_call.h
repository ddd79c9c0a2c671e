#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/operators/window_frames.h"
#include "executor/runtime/event_loop_turn.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// One window function over one section: values for its rows, from the first to the last, in slices.
class WindowCallRun {
 public:
  virtual ~WindowCallRun() = default;
  /// Values of the next `count` rows; `turn` is asked whenever that takes long.
  virtual asio::awaitable<sql::ColumnPtr> next(std::size_t count, EventLoopTurn& turn) = 0;
};

/// The data that a window's functions need besides the section.
struct WindowCallContext {
  const planner::WindowCall& call;
  sql::Type result;
  const FrameOffsets& offsets;
  const planner::SortKey* key;  // the first of ORDER BY, or null
  const sql::EvaluationContext& evaluation;
};

/// Context and section outlive the run.
std::unique_ptr<WindowCallRun> make_window_aggregate(const WindowCallContext&, const WindowSection&);
/// row_number, rank, lag, first_value …
std::unique_ptr<WindowCallRun> make_window_function(const WindowCallContext&, const WindowSection&);

/// The walk along the frames of the call.
FrameWalk frames_of(const WindowCallContext&, const WindowSection&);

}  // namespace redquel::executor
