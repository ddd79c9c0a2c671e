// The functions that PostgreSQL's aggregates are made of, as far as they can be called by name: int4larger(1, 2), float8_accum(state, 1).

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/float_math.h"
#include "sql/functions/float_moments.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/compare.h"
#include "sql/types/datetime.h"
#include "sql/types/numeric.h"
#include "sql/types/server_numbers.h"
#include "sql/types/text_io.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

constexpr Type kFloat8Vector{oid::kFloat8Array}, kInt8Vector{oid::kInt8Array}, kIntervalVector{oid::kIntervalArray};

template <std::size_t size>
std::array<double, size> read_state(std::string_view function, Text state) {
  const ArrayValue array = read_array(kFloat8Vector.oid, state);
  std::array<double, size> numbers{};
  bool fits = array.dimensions.size() == 1 && array.elements.size() == size;
  for (std::size_t i = 0; fits && i < size; ++i) {
    fits = array.elements[i].has_value();
    if (fits) numbers[i] = std::get<double>(parse_value(kFloat8, *array.elements[i], {}));
  }
  if (!fits) throw SqlError(sqlstate::kInternalError, std::string(function) + ": expected " + std::to_string(size) + "-element float8 array");
  return numbers;
}

void write_state(std::initializer_list<double> numbers, std::string& out) {
  ArrayValue array;
  std::deque<std::string> texts;
  for (const double number : numbers) array.elements.push_back(texts.emplace_back(format_value(kFloat8, number)));
  array.make_vector();
  out = array_text(kFloat8Vector.oid, array);
}

FloatMoments moments_of(std::string_view function, Text state) {
  const auto [count, sum, squares] = read_state<3>(function, state);
  return {count, sum, squares};
}

FloatPairMoments pair_moments_of(std::string_view function, Text state) {
  const auto [count, sum_x, squares_x, sum_y, squares_y, products] = read_state<6>(function, state);
  return {count, sum_x, squares_x, sum_y, squares_y, products};
}

void write_moments(const FloatMoments& state, std::string& out) { write_state({state.count, state.sum, state.squares}, out); }
void write_moments(const FloatPairMoments& state, std::string& out) {
  write_state({state.count, state.sum_x, state.squares_x, state.sum_y, state.squares_y, state.products}, out);
}

void accumulate_float(Text state, double value, std::string& out) {
  FloatMoments moments = moments_of("float8_accum", state);
  moments.accumulate(value);
  write_moments(moments, out);
}

void accumulate_pair(Text state, double y, double x, std::string& out) {
  FloatPairMoments moments = pair_moments_of("float8_regr_accum", state);
  moments.accumulate(y, x);
  write_moments(moments, out);
}

/// 22003 where finite parts give an infinite whole.
double checked_sum(double whole, double first, double second) {
  if (std::isinf(whole) && !std::isinf(first) && !std::isinf(second)) throw_float_overflow();
  return whole;
}

/// Returns the share of the distance of two means in the squares around the common mean.
double shared_squares(double count_a, double distance_a, double count_b, double distance_b) {
  return count_a * count_b * distance_a * distance_b / (count_a + count_b);
}

void combine_floats(Text first, Text second, std::string& out) {
  const FloatMoments a = moments_of("float8_combine", first), b = moments_of("float8_combine", second);
  if (a.count == 0 || b.count == 0) return write_moments(a.count == 0 ? b : a, out);
  const double distance = a.sum / a.count - b.sum / b.count;
  write_moments(FloatMoments{a.count + b.count, checked_sum(a.sum + b.sum, a.sum, b.sum),
                             checked_sum(a.squares + b.squares + shared_squares(a.count, distance, b.count, distance), a.squares, b.squares)},
                out);
}

void combine_pairs(Text first, Text second, std::string& out) {
  const FloatPairMoments a = pair_moments_of("float8_regr_combine", first), b = pair_moments_of("float8_regr_combine", second);
  if (a.count == 0 || b.count == 0) return write_moments(a.count == 0 ? b : a, out);
  const double x = a.sum_x / a.count - b.sum_x / b.count, y = a.sum_y / a.count - b.sum_y / b.count;
  const FloatPairMoments whole{a.count + b.count, checked_sum(a.sum_x + b.sum_x, a.sum_x, b.sum_x),
                               checked_sum(a.squares_x + b.squares_x + shared_squares(a.count, x, b.count, x), a.squares_x, b.squares_x),
                               checked_sum(a.sum_y + b.sum_y, a.sum_y, b.sum_y),
                               checked_sum(a.squares_y + b.squares_y + shared_squares(a.count, y, b.count, y), a.squares_y, b.squares_y),
                               checked_sum(a.products + b.products + shared_squares(a.count, x, b.count, y), a.products, b.products)};
  write_moments(whole, out);
}

void accumulate_real(Text state, float value, std::string& out) {
  FloatMoments moments = moments_of("float4_accum", state);
  moments.accumulate(static_cast<double>(value));
  write_moments(moments, out);
}

template <bool sample>
std::optional<double> float_variance(Text state) {
  return moments_of(sample ? "float8_var_samp" : "float8_var_pop", state).variance(sample);
}
template <bool sample>
std::optional<double> float_deviation(Text state) {
  return moments_of(sample ? "float8_stddev_samp" : "float8_stddev_pop", state).deviation(sample);
}

// ---- sums and counts --------------------------------------------------------------------------------------------------

/// a + b modulo 2^64: PostgreSQL's states of 64 bits go around where these functions are called by name with extreme values.
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// The number of integers and their sum.
struct IntegerState {
  std::int64_t count = 0, sum = 0;
};

IntegerState read_integers(Text text) {
  const ArrayValue array = read_array(oid::kInt8Array, text);
  const bool fits = array.dimensions.size() == 1 && array.elements.size() == 2 && array.elements[0] && array.elements[1];
  if (!fits) throw SqlError(sqlstate::kInternalError, "expected 2-element int8 array");
  return {std::get<std::int64_t>(parse_value(kInt8, *array.elements[0], {})), std::get<std::int64_t>(parse_value(kInt8, *array.elements[1], {}))};
}

template <class Integer, int step>
void accumulate_integer(Text text, Integer value, std::string& out) {
  const IntegerState state = read_integers(text);
  out = "{" + std::to_string(wrapping_sum(state.count, step)) + "," + std::to_string(wrapping_sum(state.sum, step * std::int64_t{value})) + "}";
}

std::optional<Numeric> integer_average(Text text) {
  const IntegerState state = read_integers(text);
  if (state.count == 0) return std::nullopt;
  return Numeric::from_int128(state.sum) / Numeric::from_int128(state.count);
}
std::optional<std::int64_t> integer_sum(Text text) {
  const IntegerState state = read_integers(text);
  return state.count == 0 ? std::nullopt : std::optional(state.sum);
}

/// The sum of intervals, and in the time of a second one how many there were.
struct IntervalState {
  Interval sum, counted;
};

IntervalState read_intervals(Text text) {
  const ArrayValue array = read_array(kIntervalVector.oid, text);
  const auto is_null = [](const std::optional<std::string_view>& element) { return !element; };
  if (std::ranges::any_of(array.elements, is_null)) {
    throw SqlError(sqlstate::kNullValueNotAllowed, "null array element not allowed in this context");
  }
  if (array.dimensions.size() != 1 || array.elements.size() != 2) throw SqlError(sqlstate::kInternalError, "expected 2-element interval array");
  const auto interval = [&](std::size_t i) { return std::get<Interval>(parse_value(kInterval, *array.elements[i], {})); };
  return {interval(0), interval(1)};
}

void write_intervals(const IntervalState& state, std::string& out) {
  ArrayValue array;
  const std::string sum = format_value(kInterval, state.sum), counted = format_value(kInterval, state.counted);
  array.elements = {sum, counted};
  array.make_vector();
  out = array_text(kIntervalVector.oid, array);
}

template <int step>
void accumulate_interval(Text text, const Interval& value, std::string& out) {
  IntervalState state = read_intervals(text);
  state.sum = step > 0 ? add_intervals(state.sum, value) : subtract_intervals(state.sum, value);
  state.counted.microseconds = wrapping_sum(state.counted.microseconds, step);
  write_intervals(state, out);
}

void combine_intervals(Text first, Text second, std::string& out) {
  IntervalState a = read_intervals(first);
  const IntervalState b = read_intervals(second);
  a.sum = add_intervals(a.sum, b.sum);
  a.counted.microseconds = wrapping_sum(a.counted.microseconds, b.counted.microseconds);
  write_intervals(a, out);
}

std::optional<Interval> interval_average(Text text) {
  const IntervalState state = read_intervals(text);
  const std::int64_t count = state.counted.microseconds;
  return count == 0 ? std::nullopt : std::optional(divide_interval(state.sum, static_cast<double>(count)));
}

/// NULLs add nothing.
template <class Integer>
std::optional<std::int64_t> add_integer(std::optional<std::int64_t> sum, std::optional<Integer> value) {
  if (!value) return sum;
  return wrapping_sum(sum.value_or(0), *value);
}
std::optional<Numeric> add_bigint(std::optional<Numeric> sum, std::optional<std::int64_t> value) {
  if (!value) return sum;
  return sum.value_or(Numeric()) + Numeric::from_int128(*value);
}

template <class Integer, int step>
Integer counted(Integer value) {
  Integer next;
  if (__builtin_add_overflow(value, step, &next)) {
    throw SqlError(sqlstate::kNumericValueOutOfRange, sizeof value == 8 ? "bigint out of range" : "integer out of range");
  }
  return next;
}

bool both_true(bool a, bool b) { return a && b; }
bool either_true(bool a, bool b) { return a || b; }

Numeric numeric_after(const Numeric& value) { return value + Numeric::from_int128(1); }

/// The larger (or smaller) of two values of any type that has an order; of equal ones the second.
template <bool larger>
ColumnPtr extreme_of_two(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  Column chosen(result);
  const Column &a = *arguments[0], &b = *arguments[1];
  for (std::size_t row = 0; row < rows; ++row) {
    if (a.is_null(row) || b.is_null(row)) {
      chosen.append_null();
      continue;
    }
    const int order = compare(a, row, b, row);
    chosen.append_from((larger ? order > 0 : order < 0) ? a : b, row);
  }
  return std::make_shared<const Column>(std::move(chosen));
}

struct PairResult {
  std::string_view name;
  std::optional<double> (FloatPairMoments::*value)() const;
};
constexpr PairResult kPairResults[] = {
    {"float8_corr", &FloatPairMoments::correlation},
    {"float8_covar_pop", &FloatPairMoments::covariance},
    {"float8_covar_samp", &FloatPairMoments::sample_covariance},
    {"float8_regr_avgx", &FloatPairMoments::average_x},
    {"float8_regr_avgy", &FloatPairMoments::average_y},
    {"float8_regr_intercept", &FloatPairMoments::intercept},
    {"float8_regr_r2", &FloatPairMoments::determination},
    {"float8_regr_slope", &FloatPairMoments::slope},
    {"float8_regr_sxx", &FloatPairMoments::squares_around_x},
    {"float8_regr_sxy", &FloatPairMoments::sum_of_products},
    {"float8_regr_syy", &FloatPairMoments::squares_around_y},
};

template <std::size_t... i>
void add_pair_results(std::vector<ScalarFunction>& table, std::index_sequence<i...>) {
  (table.push_back(scalar<[](Text state) { return (pair_moments_of(kPairResults[i].name, state).*kPairResults[i].value)(); }>(
       kPairResults[i].name, {kFloat8Vector}, kFloat8)),
   ...);
}

}  // namespace

std::vector<ScalarFunction> transition_functions() {
  std::vector<ScalarFunction> table = {
      scalar<accumulate_float>("float8_accum", {kFloat8Vector, kFloat8}, kFloat8Vector),
      scalar<accumulate_pair>("float8_regr_accum", {kFloat8Vector, kFloat8, kFloat8}, kFloat8Vector),
      scalar<combine_floats>("float8_combine", {kFloat8Vector, kFloat8Vector}, kFloat8Vector),
      scalar<combine_pairs>("float8_regr_combine", {kFloat8Vector, kFloat8Vector}, kFloat8Vector),
      scalar<accumulate_real>("float4_accum", {kFloat8Vector, kFloat4}, kFloat8Vector),
      scalar<[](Text state) { return moments_of("float8_avg", state).average(); }>("float8_avg", {kFloat8Vector}, kFloat8),
      scalar<float_variance<false>>("float8_var_pop", {kFloat8Vector}, kFloat8),
      scalar<float_variance<true>>("float8_var_samp", {kFloat8Vector}, kFloat8),
      scalar<float_deviation<false>>("float8_stddev_pop", {kFloat8Vector}, kFloat8),
      scalar<float_deviation<true>>("float8_stddev_samp", {kFloat8Vector}, kFloat8),
      scalar<accumulate_integer<std::int16_t, 1>>("int2_avg_accum", {kInt8Vector, kInt2}, kInt8Vector),
      scalar<accumulate_integer<std::int16_t, -1>>("int2_avg_accum_inv", {kInt8Vector, kInt2}, kInt8Vector),
      scalar<accumulate_integer<std::int32_t, 1>>("int4_avg_accum", {kInt8Vector, kInt4}, kInt8Vector),
      scalar<accumulate_integer<std::int32_t, -1>>("int4_avg_accum_inv", {kInt8Vector, kInt4}, kInt8Vector),
      scalar<integer_average>("int8_avg", {kInt8Vector}, kNumeric),
      scalar<integer_sum>("int2int4_sum", {kInt8Vector}, kInt8),
      scalar<accumulate_interval<1>>("interval_accum", {kIntervalVector, kInterval}, kIntervalVector),
      scalar<accumulate_interval<-1>>("interval_accum_inv", {kIntervalVector, kInterval}, kIntervalVector),
      scalar<combine_intervals>("interval_combine", {kIntervalVector, kIntervalVector}, kIntervalVector),
      scalar<interval_average>("interval_avg", {kIntervalVector}, kInterval),
      scalar<add_integer<std::int16_t>>("int2_sum", {kInt8, kInt2}, kInt8),
      scalar<add_integer<std::int32_t>>("int4_sum", {kInt8, kInt4}, kInt8),
      scalar<add_bigint>("int8_sum", {kNumeric, kInt8}, kNumeric),
      scalar<counted<std::int32_t, 1>>("int4inc", {kInt4}, kInt4),
      scalar<counted<std::int64_t, 1>>("int8inc", {kInt8}, kInt8),
      scalar<counted<std::int64_t, -1>>("int8dec", {kInt8}, kInt8),
      scalar<[](std::int64_t count, double, double) { return counted<std::int64_t, 1>(count); }>("int8inc_float8_float8",
                                                                                               {kInt8, kFloat8, kFloat8}, kInt8),
      scalar<both_true>("booland_statefunc", {kBool, kBool}, kBool),
      scalar<either_true>("boolor_statefunc", {kBool, kBool}, kBool),
      scalar<numeric_after>("numeric_inc", {kNumeric}, kNumeric),
  };
  add_pair_results(table, std::make_index_sequence<std::size(kPairResults)>{});
  for (const std::span<const TypeRow> family : type_families()) {
    for (const auto& [type, functions, order] : family) {
      if (order.larger.empty()) continue;
      table.push_back({.name = order.larger, .arguments = {type.oid, type.oid}, .result = type.oid, .kernel = extreme_of_two<true>});
      table.push_back({.name = order.smaller, .arguments = {type.oid, type.oid}, .result = type.oid, .kernel = extreme_of_two<false>});
    }
  }
  return table;
}

}  // namespace redquel::sql
