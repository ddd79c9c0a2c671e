// percentile_cont, percentile_disc, mode: their last argument comes sorted, by group and WITHIN GROUP (manual 9.21).

#include <fmt/format.h>

#include <cmath>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/compare.h"
#include "sql/types/datetime.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

/// Keeps the values of each group that are not NULL. Groups come one after another.
class SortedValues : public Aggregator {
 public:
  SortedValues(Type values, Type result) : values_(values), result_(result) {}

  void update(std::span<const ColumnPtr> arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
              const EvaluationContext&) override {
    groups_.resize(group_count);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      Group& group = groups_[groups[row]];
      if (arguments.back()->is_null(row)) continue;
      if (group.count++ == 0) {
        group.first = values_.size();
        if (arguments.size() > 1) group.direct = arguments[0]->datum(row);
      }
      values_.append_from(*arguments.back(), row);
    }
  }

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    groups_.resize(group_count);
    Column column(result_);
    for (const Group& group : groups_) {
      if (group.count == 0) {
        column.append_null();
      } else {
        append_result(column, group);
      }
    }
    return std::make_shared<const Column>(std::move(column));
  }

  std::size_t memory() const override { return values_.memory() + groups_.capacity() * sizeof(Group); }

 protected:
  struct Group {
    std::size_t first = 0, count = 0;
    Datum direct;  // the argument before WITHIN GROUP
  };

  /// Appends the result for a group with at least one value.
  virtual void append_result(Column& column, const Group& group) const = 0;

  Column values_;

 private:
  Type result_;
  std::vector<Group> groups_;
};

double fraction_of(const Datum& direct) {
  const double fraction = std::get<double>(direct);
  if (!(fraction >= 0 && fraction <= 1)) {
    throw SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("percentile value {:g} is not between 0 and 1", fraction));
  }
  return fraction;
}

class DiscretePercentile : public SortedValues {
 public:
  using SortedValues::SortedValues;

 protected:
  void append_result(Column& column, const Group& group) const override {
    if (is_null(group.direct)) return column.append_null();
    const double place = std::ceil(fraction_of(group.direct) * static_cast<double>(group.count));
    column.append_from(values_, group.first + (place <= 1 ? 0 : static_cast<std::size_t>(place) - 1));
  }
};

double between(double low, double high, double part) { return low + part * (high - low); }
Interval between(const Interval& low, const Interval& high, double part) {
  return add_intervals(low, multiply_interval(subtract_intervals(high, low), part));
}

template <class T>
class ContinuousPercentile : public SortedValues {
 public:
  using SortedValues::SortedValues;

 protected:
  void append_result(Column& column, const Group& group) const override {
    if (is_null(group.direct)) return column.append_null();
    const double place = fraction_of(group.direct) * static_cast<double>(group.count - 1);
    const auto low = static_cast<std::size_t>(std::floor(place)), high = static_cast<std::size_t>(std::ceil(place));
    const T first = values_.get<T>(group.first + low);
    column.append(low == high ? first : between(first, values_.get<T>(group.first + high), place - static_cast<double>(low)));
  }
};

/// Several percentiles at once: an array of the shape that the fractions have.
template <class Single>
class PercentileArray final : public Single {
 public:
  using Single::Single;

 private:
  void append_result(Column& column, const typename Single::Group& group) const override {
    if (is_null(group.direct)) return column.append_null();
    ArrayValue array = read_array(oid::kFloat8Array, std::get<std::string>(group.direct));
    Column results(this->values_.type());
    for (const auto& fraction : array.elements) {
      if (!fraction) {
        results.append_null();
        continue;
      }
      typename Single::Group one = group;
      one.direct = parse_value(kFloat8, *fraction, {});
      Single::append_result(results, one);
    }
    array.elements.clear();
    std::string text;
    for (std::size_t i = 0; i < results.size(); ++i) array.add(element_at(results, i, text));
    column.append(array_text(column.type().oid, array));
  }
};

/// The first of the most frequent values.
class Mode final : public SortedValues {
 public:
  using SortedValues::SortedValues;

 private:
  void append_result(Column& column, const Group& group) const override {
    std::size_t best = group.first, best_length = 0;
    for (std::size_t begin = group.first, end = begin; begin < group.first + group.count; begin = end) {
      const Datum value = values_.datum(begin);
      while (end < group.first + group.count && compare(values_.type(), value, values_.datum(end)) == 0) ++end;
      if (end - begin <= best_length) continue;
      best = begin;
      best_length = end - begin;
    }
    column.append_from(values_, best);
  }
};

template <class Made>
std::unique_ptr<Aggregator> make(std::span<const Type> arguments, Type result) {
  return std::make_unique<Made>(arguments.back(), result);
}

}  // namespace

std::vector<AggregateFunction> ordered_set_aggregates() {
  return {
      {"percentile_cont", {oid::kFloat8, oid::kFloat8}, oid::kFloat8, make<ContinuousPercentile<double>>},
      {"percentile_cont", {oid::kFloat8, oid::kInterval}, oid::kInterval, make<ContinuousPercentile<Interval>>},
      {"percentile_disc", {oid::kFloat8, oid::kAnyElement}, oid::kAnyElement, make<DiscretePercentile>},
      {"percentile_cont", {oid::kFloat8Array, oid::kFloat8}, oid::kFloat8Array, make<PercentileArray<ContinuousPercentile<double>>>},
      {"percentile_cont",
       {oid::kFloat8Array, oid::kInterval},
       oid::kIntervalArray,
       make<PercentileArray<ContinuousPercentile<Interval>>>},
      {"percentile_disc", {oid::kFloat8Array, oid::kAnyElement}, oid::kAnyArray, make<PercentileArray<DiscretePercentile>>},
      {"mode", {oid::kAnyElement}, oid::kAnyElement, make<Mode>},
  };
}

}  // namespace redquel::sql
