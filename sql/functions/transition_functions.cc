// The functions that PostgreSQL's aggregates are made of, as far as they can be called by name: int4larger(1, 2), float8_accum(state, 1).

#include <array>
#include <cmath>
#include <deque>

#include "sql/error.h"
#include "sql/functions/float_math.h"
#include "sql/functions/float_moments.h"
#include "sql/functions/lift.h"
#include "sql/functions/more_families.h"
#include "sql/types/array_value.h"
#include "sql/types/compare.h"
#include "sql/types/more_types.h"
#include "sql/types/numeric.h"
#include "sql/types/server_numbers.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

constexpr Type kFloat8Vector{oid::kFloat8Array};

template <std::size_t size>
std::array<double, size> read_state(std::string_view function, Text state) {
  const ArrayValue array = read_array(kFloat8Vector.oid, state);
  std::array<double, size> numbers{};
  bool fits = array.dimensions.size() == 1 && array.elements.size() == size;
  for (std::size_t i = 0; fits && i < size; ++i) {
    fits = array.elements[i].has_value();
    if (fits) numbers[i] = std::get<double>(parse_value(kFloat8, *array.elements[i], {}));
  }
  if (!fits) throw SqlError("XX000", std::string(function) + ": expected " + std::to_string(size) + "-element float8 array");
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

/// What the distance of two means adds to the squares around the common one.
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

struct ExtremeNames {
  std::string_view larger, smaller;
  Oid type;
};
constexpr ExtremeNames kExtremeNames[] = {
    {"int2larger", "int2smaller", oid::kInt2},
    {"int4larger", "int4smaller", oid::kInt4},
    {"int8larger", "int8smaller", oid::kInt8},
    {"float4larger", "float4smaller", oid::kFloat4},
    {"float8larger", "float8smaller", oid::kFloat8},
    {"numeric_larger", "numeric_smaller", oid::kNumeric},
    {"cashlarger", "cashsmaller", oid::kMoney},
    {"oidlarger", "oidsmaller", oid::kOid},
    {"text_larger", "text_smaller", oid::kText},
    {"bpchar_larger", "bpchar_smaller", oid::kBpchar},
    {"date_larger", "date_smaller", oid::kDate},
    {"time_larger", "time_smaller", oid::kTime},
    {"timetz_larger", "timetz_smaller", oid::kTimetz},
    {"timestamp_larger", "timestamp_smaller", oid::kTimestamp},
    {"timestamptz_larger", "timestamptz_smaller", oid::kTimestamptz},
    {"interval_larger", "interval_smaller", oid::kInterval},
    {"network_larger", "network_smaller", oid::kInet},
    {"tidlarger", "tidsmaller", oid::kTid},
    {"pg_lsn_larger", "pg_lsn_smaller", oid::kPgLsn},
    {"xid8_larger", "xid8_smaller", kXid8.oid},
    {"array_larger", "array_smaller", oid::kAnyArray},
    {"enum_larger", "enum_smaller", oid::kAnyEnum},
};

}  // namespace

std::vector<ScalarFunction> transition_functions() {
  std::vector<ScalarFunction> table = {
      scalar<accumulate_float>("float8_accum", {kFloat8Vector, kFloat8}, kFloat8Vector),
      scalar<accumulate_pair>("float8_regr_accum", {kFloat8Vector, kFloat8, kFloat8}, kFloat8Vector),
      scalar<combine_floats>("float8_combine", {kFloat8Vector, kFloat8Vector}, kFloat8Vector),
      scalar<combine_pairs>("float8_regr_combine", {kFloat8Vector, kFloat8Vector}, kFloat8Vector),
      scalar<both_true>("booland_statefunc", {kBool, kBool}, kBool),
      scalar<either_true>("boolor_statefunc", {kBool, kBool}, kBool),
      scalar<numeric_after>("numeric_inc", {kNumeric}, kNumeric),
  };
  for (const ExtremeNames& pair : kExtremeNames) {
    table.push_back({.name = pair.larger, .arguments = {pair.type, pair.type}, .result = pair.type, .kernel = extreme_of_two<true>});
    table.push_back({.name = pair.smaller, .arguments = {pair.type, pair.type}, .result = pair.type, .kernel = extreme_of_two<false>});
  }
  return table;
}

}  // namespace redquel::sql
