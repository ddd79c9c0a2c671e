#pragma once

#include <optional>

namespace redquel::sql {

/// Number, sum and sum of squared differences of float8 values, by the method of Youngs and Cramer as PostgreSQL has
/// it, so that results agree in the last bit. 22003 where finite inputs overflow.
struct FloatMoments {
  double count = 0, sum = 0, squares = 0;

  void accumulate(double value);
  std::optional<double> average() const;
  /// Divided by count - 1 (sample) or count.
  std::optional<double> variance(bool sample) const;
  std::optional<double> deviation(bool sample) const;
};

/// Moments of pairs (y, x), for corr, covar_* and regr_*.
struct FloatPairMoments {
  double count = 0, sum_x = 0, squares_x = 0, sum_y = 0, squares_y = 0, products = 0;

  void accumulate(double y, double x);
  // nullopt: too few pairs, or x (or y) is always the same.
  std::optional<double> squares_around_x() const;
  std::optional<double> squares_around_y() const;
  std::optional<double> sum_of_products() const;
  std::optional<double> average_x() const;
  std::optional<double> average_y() const;
  std::optional<double> covariance() const;
  std::optional<double> sample_covariance() const;
  std::optional<double> correlation() const;
  std::optional<double> determination() const;
  std::optional<double> slope() const;
  std::optional<double> intercept() const;
};

}  // namespace redquel::sql
