#include "sql/functions/window_function.h"

#include <algorithm>

#include "executor/operators/expression_list.h"
#include "executor/operators/window_call.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using sql::WindowValue;

/// row_number, rank … by the row's place alone.
template <class T>
class PlaceFunction final : public WindowCallRun {
 public:
  PlaceFunction(const WindowCallContext& context, const WindowSection& section, T (*value)(const WindowPosition&))
      : result_(context.result), position_(section), value_(value) {}

  asio::awaitable<sql::ColumnPtr> next(std::size_t count, EventLoopTurn&) override {
    std::vector<T> values(count);
    for (T& value : values) {
      value = value_(position_);
      position_.step();
    }
    co_return std::make_shared<const sql::Column>(sql::Column::from_values(result_, std::move(values)));
  }

 private:
  sql::Type result_;
  WindowPosition position_;
  T (*value_)(const WindowPosition&);
};

std::int64_t row_number(const WindowPosition& at) { return at.row() - at.partition_begin() + 1; }
std::int64_t rank(const WindowPosition& at) { return at.peers_begin() - at.partition_begin() + 1; }
std::int64_t dense_rank(const WindowPosition& at) { return static_cast<std::int64_t>(at.group()) + 1; }
double percent_rank(const WindowPosition& at) {
  return at.partition_size() == 1 ? 0.0 : static_cast<double>(rank(at) - 1) / (at.partition_size() - 1);
}
double cumulative_distribution(const WindowPosition& at) {
  return static_cast<double>(at.peers_end() - at.partition_begin()) / at.partition_size();
}

/// The common part of functions with arguments: the arguments for all rows of the section.
class ArgumentFunction : public WindowCallRun {
 protected:
  ArgumentFunction(const WindowCallContext& context, const WindowSection& section)
      : context_(context),
        arguments_(ExpressionList(context.call.arguments).evaluate(section.rows, context.evaluation)) {}

  WindowCallContext context_;
  std::vector<sql::ColumnPtr> arguments_;
};

class NtileFunction final : public ArgumentFunction {
 public:
  NtileFunction(const WindowCallContext& context, const WindowSection& section)
      : ArgumentFunction(context, section), position_(section) {}

  asio::awaitable<sql::ColumnPtr> next(std::size_t count, EventLoopTurn&) override {
    sql::Column column(sql::kInt4);
    for (; count > 0; --count) {
      if (position_.begins_partition()) buckets_ = 0;
      append_value(column);
      position_.step();
    }
    co_return std::make_shared<const sql::Column>(std::move(column));
  }

 private:
  void append_value(sql::Column& column) {
    // The first number of the partition that is not NULL says how many buckets there are.
    if (buckets_ == 0) {
      if (arguments_[0]->is_null(position_.row())) return column.append_null();
      buckets_ = arguments_[0]->get<std::int32_t>(position_.row());
      if (buckets_ <= 0) throw sql::SqlError(sqlstate::kInvalidArgumentForNtileFunction, "argument of ntile must be greater than zero");
      bucket_ = 1;
      rows_of_bucket_ = 0;
      const std::int64_t rows = position_.partition_size();
      size_ = std::max<std::int64_t>(rows / buckets_, 1);
      larger_ = rows < buckets_ ? 0 : rows % buckets_;
    }
    if (rows_of_bucket_ == size_ + (bucket_ <= larger_ ? 1 : 0)) {
      ++bucket_;
      rows_of_bucket_ = 0;
    }
    ++rows_of_bucket_;
    column.append(bucket_);
  }

  WindowPosition position_;
  std::int64_t buckets_ = 0;  // 0: not known in this partition
  std::int64_t size_ = 0, larger_ = 0, rows_of_bucket_ = 0;
  std::int32_t bucket_ = 0;
};

/// Values of other rows.
class PickedValues {
 public:
  PickedValues(sql::Type type, const sql::ColumnPtr& values) : rows_(std::vector<sql::Type>{type}), values_(values) {}

  void add(RowNumber row) { picked_.push_back(row); }
  void add_from(const sql::ColumnPtr& others, RowNumber row) {
    flush();
    rows_.append({&others, 1}, {&row, 1});
  }
  void add_null() {
    flush();
    rows_.append_nulls();
  }
  sql::ColumnPtr take() {
    flush();
    return rows_.take().columns[0];
  }

 private:
  void flush() {
    if (!picked_.empty()) rows_.append({&values_, 1}, picked_);
    picked_.clear();
  }

  RowStore rows_;
  const sql::ColumnPtr& values_;
  std::vector<RowNumber> picked_;  // waiting to be appended together
};

/// lag(value, offset, default) and lead.
class NeighbourFunction final : public ArgumentFunction {
 public:
  NeighbourFunction(const WindowCallContext& context, const WindowSection& section)
      : ArgumentFunction(context, section),
        position_(section),
        back_(context.call.function->value == WindowValue::kLag) {}

  asio::awaitable<sql::ColumnPtr> next(std::size_t count, EventLoopTurn&) override {
    PickedValues values(context_.result, arguments_[0]);
    for (; count > 0; --count) {
      add_value(values);
      position_.step();
    }
    co_return values.take();
  }

 private:
  void add_value(PickedValues& values) const {
    const RowNumber row = position_.row();
    std::int64_t offset = 1;
    if (arguments_.size() > 1) {
      if (arguments_[1]->is_null(row)) return values.add_null();
      offset = arguments_[1]->get<std::int32_t>(row);
    }
    const std::int64_t target = static_cast<std::int64_t>(row) + (back_ ? -offset : offset);
    if (target >= position_.partition_begin() && target < position_.partition_end()) {
      values.add(static_cast<RowNumber>(target));
    } else if (arguments_.size() > 2) {
      values.add_from(arguments_[2], row);
    } else {
      values.add_null();
    }
  }

  WindowPosition position_;
  bool back_;
};

/// first_value, last_value, nth_value.
class FrameValueFunction final : public ArgumentFunction {
 public:
  FrameValueFunction(const WindowCallContext& context, const WindowSection& section)
      : ArgumentFunction(context, section), walk_(frames_of(context, section)) {}

  asio::awaitable<sql::ColumnPtr> next(std::size_t count, EventLoopTurn&) override {
    PickedValues values(context_.result, arguments_[0]);
    for (; count > 0; --count) {
      const RowNumber row = wanted(walk_.frame());
      if (row == kNoRow) {
        values.add_null();
      } else {
        values.add(row);
      }
      walk_.step();
    }
    co_return values.take();
  }

 private:
  RowNumber wanted(const sql::FrameRows& frame) const {
    switch (context_.call.function->value) {
      case WindowValue::kFirstValue:
        return frame[0].empty() ? kNoRow : frame[0].begin;
      case WindowValue::kLastValue:
        for (std::size_t piece = frame.size(); piece-- > 0;) {
          if (!frame[piece].empty()) return frame[piece].end - 1;
        }
        return kNoRow;
      default:
        return nth(frame);
    }
  }

  RowNumber nth(const sql::FrameRows& frame) const {
    const RowNumber current = walk_.position().row();
    if (arguments_[1]->is_null(current)) return kNoRow;
    const std::int32_t n = arguments_[1]->get<std::int32_t>(current);
    if (n <= 0) throw sql::SqlError(sqlstate::kInvalidArgumentForNthValueFunction, "argument of nth_value must be greater than zero");
    RowNumber before = static_cast<RowNumber>(n) - 1;
    for (const sql::RowRange& piece : frame) {
      if (before < piece.size()) return piece.begin + before;
      before -= piece.size();
    }
    return kNoRow;
  }

  FrameWalk walk_;
};

}  // namespace

std::unique_ptr<WindowCallRun> make_window_function(const WindowCallContext& context, const WindowSection& section) {
  switch (context.call.function->value) {
    case WindowValue::kRowNumber:
      return std::make_unique<PlaceFunction<std::int64_t>>(context, section, row_number);
    case WindowValue::kRank:
      return std::make_unique<PlaceFunction<std::int64_t>>(context, section, rank);
    case WindowValue::kDenseRank:
      return std::make_unique<PlaceFunction<std::int64_t>>(context, section, dense_rank);
    case WindowValue::kPercentRank:
      return std::make_unique<PlaceFunction<double>>(context, section, percent_rank);
    case WindowValue::kCumulativeDistribution:
      return std::make_unique<PlaceFunction<double>>(context, section, cumulative_distribution);
    case WindowValue::kNtile:
      return std::make_unique<NtileFunction>(context, section);
    case WindowValue::kLag:
    case WindowValue::kLead:
      return std::make_unique<NeighbourFunction>(context, section);
    case WindowValue::kFirstValue:
    case WindowValue::kLastValue:
    case WindowValue::kNthValue:
      break;
  }
  return std::make_unique<FrameValueFunction>(context, section);
}

}  // namespace redquel::executor
