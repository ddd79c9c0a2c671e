// generate_series (manual 9.25).

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/types/time_zone.h"

namespace redquel::sql {
namespace {

Batch single_column(Column column) {
  Batch batch;
  batch.rows = column.size();
  batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
  return batch;
}

/// A NULL argument gives no row.
class EmptySource final : public RowSource {
 public:
  explicit EmptySource(Type type) : type_(type) {}
  Batch next(std::size_t) override { return single_column(Column(type_)); }

 private:
  Type type_;
};

/// Values from `current` on while `Step` says there are more.
template <class T, class Step>
class Series final : public RowSource {
 public:
  Series(Type type, T start, Step step) : type_(type), current_(std::move(start)), step_(std::move(step)) {
    done_ = !step_.holds(current_);
  }

  Batch next(std::size_t limit) override {
    std::vector<T> values;
    while (!done_ && values.size() < limit) {
      values.push_back(current_);
      done_ = !step_.advance(current_) || !step_.holds(current_);
    }
    return single_column(Column::from_values(type_, std::move(values)));
  }

 private:
  Type type_;
  T current_;
  Step step_;
  bool done_;
};

template <class T>
struct IntegerStep {
  T stop, step;
  bool holds(T value) const { return step > 0 ? value <= stop : value >= stop; }
  /// False where the next value is no integer any more.
  bool advance(T& value) const { return !__builtin_add_overflow(value, step, &value); }
};

struct NumericStep {
  Numeric stop, step;
  bool holds(const Numeric& value) const { return step.sign() > 0 ? value <= stop : value >= stop; }
  bool advance(Numeric& value) const {
    value = value + step;
    return true;
  }
};

struct TimestampStep {
  std::int64_t stop;
  Interval step;
  bool forward;
  const TimeZone* zone;  // nullptr: without time zone
  bool holds(std::int64_t value) const { return forward ? value <= stop : value >= stop; }
  bool advance(std::int64_t& value) const {
    value = zone == nullptr ? add_interval(value, step) : add_interval(value, step, *zone);
    return true;
  }
};

using Arguments = std::span<const Datum>;

bool any_null(Arguments arguments) {
  return std::ranges::any_of(arguments, [](const Datum& argument) { return is_null(argument); });
}

[[noreturn]] void throw_zero_step() { throw SqlError(sqlstate::kInvalidParameterValue, "step size cannot equal zero"); }

template <class T>
std::unique_ptr<RowSource> integer_series(Arguments arguments, const EvaluationContext&) {
  const Type type = sizeof(T) == 4 ? kInt4 : kInt8;
  if (any_null(arguments)) return std::make_unique<EmptySource>(type);
  const T step = arguments.size() > 2 ? std::get<T>(arguments[2]) : T{1};
  if (step == 0) throw_zero_step();
  return std::make_unique<Series<T, IntegerStep<T>>>(type, std::get<T>(arguments[0]),
                                                     IntegerStep<T>{std::get<T>(arguments[1]), step});
}

std::unique_ptr<RowSource> numeric_series(Arguments arguments, const EvaluationContext&) {
  if (any_null(arguments)) return std::make_unique<EmptySource>(kNumeric);
  constexpr std::string_view kNames[] = {"start value", "stop value", "step size"};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Numeric& value = std::get<Numeric>(arguments[i]);
    if (value.is_nan()) throw SqlError(sqlstate::kInvalidParameterValue, std::string(kNames[i]) + " cannot be NaN");
    if (value.is_infinite()) throw SqlError(sqlstate::kInvalidParameterValue, std::string(kNames[i]) + " cannot be infinity");
  }
  const Numeric step = arguments.size() > 2 ? std::get<Numeric>(arguments[2]) : Numeric(1);
  if (step.is_zero()) throw_zero_step();
  return std::make_unique<Series<Numeric, NumericStep>>(kNumeric, std::get<Numeric>(arguments[0]),
                                                        NumericStep{std::get<Numeric>(arguments[1]), step});
}

std::unique_ptr<RowSource> timestamps(Arguments arguments, Type type, const TimeZone* zone) {
  if (any_null(arguments)) return std::make_unique<EmptySource>(type);
  const Interval& step = std::get<Interval>(arguments[2]);
  const int direction = compare_intervals(step, Interval{});
  if (direction == 0) throw_zero_step();
  return std::make_unique<Series<std::int64_t, TimestampStep>>(
      type, std::get<std::int64_t>(arguments[0]),
      TimestampStep{std::get<std::int64_t>(arguments[1]), step, direction > 0, zone});
}

std::unique_ptr<RowSource> timestamp_series(Arguments arguments, const EvaluationContext&) {
  return timestamps(arguments, kTimestamp, nullptr);
}
std::unique_ptr<RowSource> timestamptz_series(Arguments arguments, const EvaluationContext& context) {
  return timestamps(arguments, kTimestamptz, &session_zone(*context.settings));
}

}  // namespace

std::vector<TableFunction> series_functions() {
  std::vector<TableFunction> table;
  const auto add = [&](std::vector<Oid> arguments, Oid result, auto open) {
    table.push_back({"generate_series", std::move(arguments), {{"generate_series", result}}, open});
  };
  add({oid::kInt4, oid::kInt4}, oid::kInt4, integer_series<std::int32_t>);
  add({oid::kInt4, oid::kInt4, oid::kInt4}, oid::kInt4, integer_series<std::int32_t>);
  add({oid::kInt8, oid::kInt8}, oid::kInt8, integer_series<std::int64_t>);
  add({oid::kInt8, oid::kInt8, oid::kInt8}, oid::kInt8, integer_series<std::int64_t>);
  add({oid::kNumeric, oid::kNumeric}, oid::kNumeric, numeric_series);
  add({oid::kNumeric, oid::kNumeric, oid::kNumeric}, oid::kNumeric, numeric_series);
  add({oid::kTimestamp, oid::kTimestamp, oid::kInterval}, oid::kTimestamp, timestamp_series);
  add({oid::kTimestamptz, oid::kTimestamptz, oid::kInterval}, oid::kTimestamptz, timestamptz_series);
  return table;
}

}  // namespace redquel::sql
