#include <algorithm>

#include "executor/operators/expression_list.h"
#include "executor/operators/window_call.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

FrameWalk frames_of(const WindowCallContext& context, const WindowSection& section) {
  const planner::WindowFrame& frame = context.call.frame;
  sql::ColumnPtr order;
  if (frame.mode == planner::FrameMode::kRange && (frame.start_offset || frame.end_offset)) {
    order = sql::evaluate(*context.key->expression, section.rows, context.evaluation);
  }
  return {section, frame, context.offsets, context.key, std::move(order), context.evaluation};
}

namespace {

std::size_t rows_in(const sql::FrameRows& frame) { return frame[0].size() + frame[1].size() + frame[2].size(); }

/// Appends pieces of a column.
class ColumnPieces {
 public:
  explicit ColumnPieces(sql::Type type) : type_(type) {}

  void add(sql::ColumnPtr piece) { pieces_.push_back(std::move(piece)); }
  sql::ColumnPtr take() {
    if (pieces_.size() == 1) return pieces_[0];
    RowStore rows(std::vector<sql::Type>{type_});
    for (const sql::ColumnPtr& piece : pieces_) {
      const std::vector<RowNumber> all = row_range(0, piece->size());
      rows.append({&piece, 1}, all);
    }
    return rows.take().columns[0];
  }

 private:
  sql::Type type_;
  std::vector<sql::ColumnPtr> pieces_;
};

/// An aggregate over frames. Those that can follow the frames do; of the others each frame becomes a group, equal neighbours once.
class WindowAggregate final : public WindowCallRun {
 public:
  WindowAggregate(const WindowCallContext& context, const WindowSection& section)
      : context_(context), walk_(frames_of(context, section)) {
    const std::vector<sql::Type> types = types_of(context.call.arguments);
    aggregator_ = context.call.aggregate->make(types, context.result);
    sliding_ = dynamic_cast<sql::SlidingAggregator*>(aggregator_.get());
    sql::Batch rows = section.rows;
    if (context.call.filter) rows = filtered(rows);
    const ExpressionList values(context.call.arguments);
    arguments_ = values.evaluate(rows, context.evaluation);
  }

  asio::awaitable<sql::ColumnPtr> next(std::size_t count, EventLoopTurn& turn) override {
    std::vector<sql::FrameRows> frames;
    frames.reserve(count);
    for (; count > 0; --count) {
      frames.push_back(mapped(walk_.frame()));
      walk_.step();
    }
    ColumnPieces values(context_.result);
    std::size_t done = 0;
    while (done < frames.size()) {
      const std::span<const sql::FrameRows> piece(frames.data() + done, affordable(frames, done));
      sql::ColumnPtr column;
      if (sliding_ != nullptr) {
        column = sliding_->slide(arguments_, piece);
      } else {
        column = co_await by_groups(piece, turn);
      }
      values.add(std::move(column));
      done += piece.size();
      if (turn.is_over()) co_await turn.yield();
    }
    co_return values.take();
  }

 private:
  /// Leaves the rows that FILTER lets through, and notes how many of them are before each row.
  sql::Batch filtered(const sql::Batch& rows) {
    const std::vector<RowNumber> kept = sql::select_rows(*context_.call.filter, rows, context_.evaluation);
    before_.assign(rows.rows + 1, 0);
    for (const RowNumber row : kept) before_[row + 1] = 1;
    for (std::size_t row = 0; row < rows.rows; ++row) before_[row + 1] += before_[row];
    sql::Batch left;
    left.rows = kept.size();
    left.columns.resize(rows.columns.size());
    for (const std::uint32_t column : columns_used(context_.call.arguments)) {
      left.columns[column] = std::make_shared<const sql::Column>(rows.columns[column]->gather(kept));
    }
    return left;
  }

  sql::FrameRows mapped(sql::FrameRows frame) const {
    if (before_.empty()) return frame;
    sql::FrameRows result;
    std::size_t pieces = 0;
    for (const sql::RowRange& piece : frame) {
      const sql::RowRange left = {before_[piece.begin], before_[piece.end]};
      if (!left.empty()) result[pieces++] = left;
    }
    return result;
  }

  /// Returns how many frames from `first` on may be computed at once.
  std::size_t affordable(const std::vector<sql::FrameRows>& frames, std::size_t first) const {
    if (sliding_ != nullptr && sliding_->removes_rows()) return frames.size() - first;
    std::size_t cost = 0, count = 0;
    while (first + count < frames.size() && cost < kRowsAtOnce) {
      const sql::FrameRows& frame = frames[first + count];
      const bool grows = frame[0].begin == last_.begin && frame[0].end >= last_.end && frame[1].empty();
      cost += grows ? frame[0].end - last_.end : rows_in(frame);
      last_ = frame[1].empty() ? frame[0] : sql::RowRange{};
      ++count;
    }
    return count;
  }

  asio::awaitable<sql::ColumnPtr> by_groups(std::span<const sql::FrameRows> frames, EventLoopTurn& turn) {
    std::vector<RowNumber> group_of;  // each frame's
    std::vector<sql::FrameRows> distinct;
    for (const sql::FrameRows& frame : frames) {
      if (distinct.empty() || distinct.back() != frame) distinct.push_back(frame);
      group_of.push_back(static_cast<RowNumber>(distinct.size() - 1));
    }
    const std::vector<sql::Type> types = types_of(context_.call.arguments);
    const std::unique_ptr<sql::Aggregator> groups = context_.call.aggregate->make(types, context_.result);
    std::vector<RowNumber> rows, numbers;
    for (std::size_t group = 0; group < distinct.size(); ++group) {
      for (const sql::RowRange& range : distinct[group]) {
        for (RowNumber row = range.begin; row < range.end; ++row) {
          rows.push_back(row);
          numbers.push_back(static_cast<RowNumber>(group));
          if (rows.size() < kRowsOfUpdate) continue;
          update(*groups, rows, numbers, distinct.size());
          if (turn.is_over()) co_await turn.yield();
        }
      }
    }
    update(*groups, rows, numbers, distinct.size());
    const sql::ColumnPtr values = groups->finish(distinct.size(), context_.evaluation);
    co_return std::make_shared<const sql::Column>(values->gather(group_of));
  }

  void update(sql::Aggregator& groups, std::vector<RowNumber>& rows, std::vector<RowNumber>& numbers, std::size_t count) const {
    std::vector<sql::ColumnPtr> arguments;
    for (const sql::ColumnPtr& argument : arguments_) {
      arguments.push_back(std::make_shared<const sql::Column>(argument->gather(rows)));
    }
    groups.update(arguments, numbers, count, context_.evaluation);
    rows.clear();
    numbers.clear();
  }

  static constexpr std::size_t kRowsAtOnce = 65536;
  static constexpr std::size_t kRowsOfUpdate = 4096;

  WindowCallContext context_;
  FrameWalk walk_;
  std::unique_ptr<sql::Aggregator> aggregator_;
  sql::SlidingAggregator* sliding_;  // the same, or null
  std::vector<RowNumber> before_;  // rows that FILTER keeps before each row; empty: no FILTER
  std::vector<sql::ColumnPtr> arguments_;
  mutable sql::RowRange last_;     // the frame whose cost was added last
};

}  // namespace

std::unique_ptr<WindowCallRun> make_window_aggregate(const WindowCallContext& context, const WindowSection& section) {
  return std::make_unique<WindowAggregate>(context, section);
}

}  // namespace redquel::executor
