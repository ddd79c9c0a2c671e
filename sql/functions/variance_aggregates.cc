// variance, stddev and their kin, and the statistics of pairs (manual 9.21, aggregates for statistics).

#include <cmath>
#include <limits>

#include "sql/functions/families.h"
#include "sql/functions/float_math.h"
#include "sql/functions/float_moments.h"
#include "sql/functions/group_states.h"
#include "sql/functions/numeric_sum.h"

namespace redquel::sql {

void FloatMoments::accumulate(double value) {
  const double count_before = count, sum_before = sum;
  count += 1.0;
  sum += value;
  if (count_before > 0.0) {
    const double difference = value * count - sum;
    squares += difference * difference / (count * count_before);
    if (std::isinf(sum) || std::isinf(squares)) {
      if (!std::isinf(sum_before) && !std::isinf(value)) throw_float_overflow();
      squares = kNan;
    }
  } else if (std::isnan(value) || std::isinf(value)) {
    squares = kNan;
  }
}

std::optional<double> FloatMoments::average() const { return count == 0.0 ? std::nullopt : std::optional(sum / count); }

std::optional<double> FloatMoments::variance(bool sample) const {
  if (count == 0.0 || (sample && count <= 1.0)) return std::nullopt;
  return squares / (sample ? count - 1.0 : count);
}

std::optional<double> FloatMoments::deviation(bool sample) const {
  const std::optional<double> square = variance(sample);
  return square ? std::optional(std::sqrt(*square)) : std::nullopt;
}

void FloatPairMoments::accumulate(double y, double x) {
  const FloatPairMoments before = *this;
  count += 1.0;
  sum_x += x;
  sum_y += y;
  if (before.count > 0.0) {
    const double dx = x * count - sum_x, dy = y * count - sum_y;
    const double scale = 1.0 / (count * before.count);
    squares_x += dx * dx * scale;
    squares_y += dy * dy * scale;
    products += dx * dy * scale;
    if (std::isinf(sum_x) || std::isinf(squares_x) || std::isinf(sum_y) || std::isinf(squares_y) ||
        std::isinf(products)) {
      const bool x_finite = !std::isinf(before.sum_x) && !std::isinf(x);
      const bool y_finite = !std::isinf(before.sum_y) && !std::isinf(y);
      if (((std::isinf(sum_x) || std::isinf(squares_x)) && x_finite) ||
          ((std::isinf(sum_y) || std::isinf(squares_y)) && y_finite) ||
          (std::isinf(products) && x_finite && y_finite)) {
        throw_float_overflow();
      }
      if (std::isinf(squares_x)) squares_x = kNan;
      if (std::isinf(squares_y)) squares_y = kNan;
      if (std::isinf(products)) products = kNan;
    }
    return;
  }
  if (!std::isfinite(x)) squares_x = products = kNan;
  if (!std::isfinite(y)) squares_y = products = kNan;
}

using MaybeDouble = std::optional<double>;

MaybeDouble FloatPairMoments::squares_around_x() const { return count < 1 ? std::nullopt : MaybeDouble(squares_x); }
MaybeDouble FloatPairMoments::squares_around_y() const { return count < 1 ? std::nullopt : MaybeDouble(squares_y); }
MaybeDouble FloatPairMoments::sum_of_products() const { return count < 1 ? std::nullopt : MaybeDouble(products); }
MaybeDouble FloatPairMoments::average_x() const { return count < 1 ? std::nullopt : MaybeDouble(sum_x / count); }
MaybeDouble FloatPairMoments::average_y() const { return count < 1 ? std::nullopt : MaybeDouble(sum_y / count); }
MaybeDouble FloatPairMoments::covariance() const { return count < 1 ? std::nullopt : MaybeDouble(products / count); }
MaybeDouble FloatPairMoments::sample_covariance() const { return count < 2 ? std::nullopt : MaybeDouble(products / (count - 1.0)); }
MaybeDouble FloatPairMoments::correlation() const {
  if (count < 1 || squares_x == 0 || squares_y == 0) return std::nullopt;
  return products / std::sqrt(squares_x * squares_y);
}
MaybeDouble FloatPairMoments::determination() const {
  if (count < 1 || squares_x == 0) return std::nullopt;
  if (squares_y == 0) return 1.0;
  return products * products / (squares_x * squares_y);
}
MaybeDouble FloatPairMoments::slope() const {
  if (count < 1 || squares_x == 0) return std::nullopt;
  return products / squares_x;
}
MaybeDouble FloatPairMoments::intercept() const {
  if (count < 1 || squares_x == 0) return std::nullopt;
  return (sum_y - sum_x * products / squares_x) / count;
}

namespace {

enum class Measure { kVariance, kDeviation };

template <class T, Measure measure, bool sample>
struct FloatSpread : FloatMoments {
  void add(T value) { accumulate(value); }
  std::optional<double> result() const { return measure == Measure::kVariance ? variance(sample) : deviation(sample); }
};

/// The square root at the scale of its argument, rounded once: sqrt() has rounded at a longer scale before.
Numeric root_of(const Numeric& variance) {
  const int scale = variance.scale();
  const Numeric unit(1, scale), half(5, scale + 1);
  Numeric root = sqrt(variance).rounded(scale);
  if (root.sign() > 0 && (root - half) * (root - half) > variance) return root - unit;
  if ((root + half) * (root + half) <= variance) return root + unit;
  return root;
}

/// Exact sums; one division at the end.
struct ExactMoments {
  std::int64_t count = 0;
  NumericSum sum, squares;

  std::optional<Numeric> spread(Measure measure, bool sample) const {
    if (count == 0 || (sample && count == 1)) return std::nullopt;
    const Numeric total = sum.total();
    if (!total.is_finite()) return Numeric::nan();
    const Numeric n(count);
    const Numeric numerator = n * squares.total() - total * total;
    if (numerator.sign() <= 0) return Numeric(0);
    const Numeric variance = numerator / (n * (sample ? Numeric(count - 1) : n));
    if (measure == Measure::kVariance) return variance;
    return root_of(variance);
  }
};

template <class T, Measure measure, bool sample>
struct ExactSpread : ExactMoments {
  void add(const T& value) {
    if constexpr (std::is_same_v<T, Numeric>) {
      sum.add(value);
      squares.add(value * value);
    } else {
      const Numeric number(value);
      sum.add(number);
      squares.add(number * number);
    }
    ++count;
  }
  std::optional<Numeric> result() const { return spread(measure, sample); }
};

template <class T, template <class, Measure, bool> class Spread>
void add_spread(std::vector<AggregateFunction>& table, Type argument, Type result) {
  using enum Measure;
  table.push_back(aggregate<T, Spread<T, kVariance, true>>("variance", argument, result));
  table.push_back(aggregate<T, Spread<T, kVariance, true>>("var_samp", argument, result));
  table.push_back(aggregate<T, Spread<T, kVariance, false>>("var_pop", argument, result));
  table.push_back(aggregate<T, Spread<T, kDeviation, true>>("stddev", argument, result));
  table.push_back(aggregate<T, Spread<T, kDeviation, true>>("stddev_samp", argument, result));
  table.push_back(aggregate<T, Spread<T, kDeviation, false>>("stddev_pop", argument, result));
}

template <std::optional<double> (FloatPairMoments::*value)() const>
struct PairStatistic : FloatPairMoments {
  void add(double y, double x) { accumulate(y, x); }
  std::optional<double> result() const {
    const FloatPairMoments& moments = *this;
    return (moments.*value)();
  }
};
struct PairCount : FloatPairMoments {
  void add(double, double) { count += 1.0; }
  std::optional<std::int64_t> result() const { return static_cast<std::int64_t>(count); }
};

template <std::optional<double> (FloatPairMoments::*value)() const>
AggregateFunction statistic(std::string_view name) {
  return pair_aggregate<double, double, PairStatistic<value>>(name, kFloat8, kFloat8, kFloat8);
}

}  // namespace

std::vector<AggregateFunction> variance_aggregates() {
  std::vector<AggregateFunction> table = {
      pair_aggregate<double, double, PairCount>("regr_count", kFloat8, kFloat8, kInt8),
      statistic<&FloatPairMoments::squares_around_x>("regr_sxx"),
      statistic<&FloatPairMoments::squares_around_y>("regr_syy"),
      statistic<&FloatPairMoments::sum_of_products>("regr_sxy"),
      statistic<&FloatPairMoments::average_x>("regr_avgx"),
      statistic<&FloatPairMoments::average_y>("regr_avgy"),
      statistic<&FloatPairMoments::determination>("regr_r2"),
      statistic<&FloatPairMoments::slope>("regr_slope"),
      statistic<&FloatPairMoments::intercept>("regr_intercept"),
      statistic<&FloatPairMoments::covariance>("covar_pop"),
      statistic<&FloatPairMoments::sample_covariance>("covar_samp"),
      statistic<&FloatPairMoments::correlation>("corr"),
  };
  add_spread<std::int16_t, ExactSpread>(table, kInt2, kNumeric);
  add_spread<std::int32_t, ExactSpread>(table, kInt4, kNumeric);
  add_spread<std::int64_t, ExactSpread>(table, kInt8, kNumeric);
  add_spread<Numeric, ExactSpread>(table, kNumeric, kNumeric);
  add_spread<float, FloatSpread>(table, kFloat4, kFloat8);
  add_spread<double, FloatSpread>(table, kFloat8, kFloat8);
  return table;
}

}  // namespace redquel::sql
