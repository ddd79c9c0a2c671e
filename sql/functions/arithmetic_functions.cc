// The operators + - * / % ^ & | # ~ << >> @ |/ ||/ of numbers, with PostgreSQL's result types and its overflow errors.

#include <cmath>
#include <limits>

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/float_math.h"
#include "sql/functions/lift.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

template <class T>
[[noreturn]] void throw_integer_overflow() {
  constexpr std::string_view name = sizeof(T) == 2 ? "smallint" : sizeof(T) == 4 ? "integer" : "bigint";
  throw number_out_of_range(name);
}

/// The wider of two integer types: what an operator across them gives.
template <class A, class B>
using Wider = std::conditional_t<(sizeof(A) > sizeof(B)), A, B>;

template <class A, class B>
Wider<A, B> add(A a, B b) {
  Wider<A, B> result;
  if (__builtin_add_overflow(a, b, &result)) throw_integer_overflow<Wider<A, B>>();
  return result;
}
template <class A, class B>
Wider<A, B> subtract(A a, B b) {
  Wider<A, B> result;
  if (__builtin_sub_overflow(a, b, &result)) throw_integer_overflow<Wider<A, B>>();
  return result;
}
template <class A, class B>
Wider<A, B> multiply(A a, B b) {
  Wider<A, B> result;
  if (__builtin_mul_overflow(a, b, &result)) throw_integer_overflow<Wider<A, B>>();
  return result;
}
template <class A, class B>
Wider<A, B> divide(A a, B b) {
  using Result = Wider<A, B>;
  if (b == 0) throw_division_by_zero();
  if (b == -1) {
    if (static_cast<Result>(a) == std::numeric_limits<Result>::min()) throw_integer_overflow<Result>();
    return static_cast<Result>(-static_cast<Result>(a));
  }
  return static_cast<Result>(static_cast<Result>(a) / static_cast<Result>(b));
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) throw_division_by_zero();
  return b == -1 ? T{0} : static_cast<T>(a % b);
}
template <class T>
T negate(T a) {
  if (a == std::numeric_limits<T>::min()) throw_integer_overflow<T>();
  return static_cast<T>(-a);
}
template <class T>
T absolute(T a) {
  return a < 0 ? negate(a) : a;
}
template <class T>
T same(T a) {
  return a;
}
template <class T>
T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
T bit_not(T a) {
  return static_cast<T>(~a);
}
/// Counts beyond the width wrap, as the processor's instruction does.
template <class T>
T shift_left(T a, std::int32_t count) {
  constexpr std::int32_t mask = sizeof(T) == 8 ? 63 : 31;
  return static_cast<T>(static_cast<std::int64_t>(a) << (count & mask));
}
template <class T>
T shift_right(T a, std::int32_t count) {
  constexpr std::int32_t mask = sizeof(T) == 8 ? 63 : 31;
  return static_cast<T>(a >> (count & mask));
}

template <class A, class B>
void add_integer_pair(std::vector<ScalarFunction>& table, Type left, Type right) {
  const Type result = sizeof(A) > sizeof(B) ? left : right;
  table.push_back(scalar<add<A, B>>("+", {left, right}, result));
  table.push_back(scalar<subtract<A, B>>("-", {left, right}, result));
  table.push_back(scalar<multiply<A, B>>("*", {left, right}, result));
  table.push_back(scalar<divide<A, B>>("/", {left, right}, result));
}

template <class T>
void add_integer(std::vector<ScalarFunction>& table, Type type) {
  table.push_back(scalar<remainder<T>>("%", {type, type}, type));
  table.push_back(scalar<remainder<T>>("mod", {type, type}, type));
  table.push_back(scalar<same<T>>("+", {type}, type));
  table.push_back(scalar<negate<T>>("-", {type}, type));
  table.push_back(scalar<absolute<T>>("@", {type}, type));
  table.push_back(scalar<absolute<T>>("abs", {type}, type));
  table.push_back(scalar<bit_and<T>>("&", {type, type}, type));
  table.push_back(scalar<bit_or<T>>("|", {type, type}, type));
  table.push_back(scalar<bit_xor<T>>("#", {type, type}, type));
  table.push_back(scalar<bit_not<T>>("~", {type}, type));
  table.push_back(scalar<shift_left<T>>("<<", {type, kInt4}, type));
  table.push_back(scalar<shift_right<T>>(">>", {type, kInt4}, type));
}

template <class A, class B>
void add_float_pair(std::vector<ScalarFunction>& table, Type left, Type right) {
  using Result = Wider<A, B>;
  const Type result = sizeof(A) > sizeof(B) ? left : right;
  table.push_back(scalar<[](A a, B b) { return add_floats<Result>(a, b); }>("+", {left, right}, result));
  table.push_back(scalar<[](A a, B b) { return subtract_floats<Result>(a, b); }>("-", {left, right}, result));
  table.push_back(scalar<[](A a, B b) { return multiply_floats<Result>(a, b); }>("*", {left, right}, result));
  table.push_back(scalar<[](A a, B b) { return divide_floats<Result>(a, b); }>("/", {left, right}, result));
}

template <class T>
void add_float(std::vector<ScalarFunction>& table, Type type) {
  table.push_back(scalar<same<T>>("+", {type}, type));
  table.push_back(scalar<[](T a) { return -a; }>("-", {type}, type));
  table.push_back(scalar<[](T a) { return std::fabs(a); }>("@", {type}, type));
  table.push_back(scalar<[](T a) { return std::fabs(a); }>("abs", {type}, type));
}

void add_numeric(std::vector<ScalarFunction>& table) {
  using N = Numeric;
  table.push_back(scalar<[](const N& a, const N& b) { return a + b; }>("+", {kNumeric, kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a, const N& b) { return a - b; }>("-", {kNumeric, kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a, const N& b) { return a * b; }>("*", {kNumeric, kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a, const N& b) { return a / b; }>("/", {kNumeric, kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a, const N& b) { return a % b; }>("%", {kNumeric, kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a, const N& b) { return a % b; }>("mod", {kNumeric, kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a, const N& b) { return power(a, b); }>("^", {kNumeric, kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a) { return a; }>("+", {kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a) { return a.negated(); }>("-", {kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a) { return a.abs(); }>("@", {kNumeric}, kNumeric));
  table.push_back(scalar<[](const N& a) { return a.abs(); }>("abs", {kNumeric}, kNumeric));
}

}  // namespace

std::vector<ScalarFunction> arithmetic_functions() {
  using std::int16_t, std::int32_t, std::int64_t;
  std::vector<ScalarFunction> table;
  add_integer_pair<int16_t, int16_t>(table, kInt2, kInt2);
  add_integer_pair<int16_t, int32_t>(table, kInt2, kInt4);
  add_integer_pair<int16_t, int64_t>(table, kInt2, kInt8);
  add_integer_pair<int32_t, int16_t>(table, kInt4, kInt2);
  add_integer_pair<int32_t, int32_t>(table, kInt4, kInt4);
  add_integer_pair<int32_t, int64_t>(table, kInt4, kInt8);
  add_integer_pair<int64_t, int16_t>(table, kInt8, kInt2);
  add_integer_pair<int64_t, int32_t>(table, kInt8, kInt4);
  add_integer_pair<int64_t, int64_t>(table, kInt8, kInt8);
  add_integer<int16_t>(table, kInt2);
  add_integer<int32_t>(table, kInt4);
  add_integer<int64_t>(table, kInt8);
  add_float_pair<float, float>(table, kFloat4, kFloat4);
  add_float_pair<float, double>(table, kFloat4, kFloat8);
  add_float_pair<double, float>(table, kFloat8, kFloat4);
  add_float_pair<double, double>(table, kFloat8, kFloat8);
  add_float<float>(table, kFloat4);
  add_float<double>(table, kFloat8);
  table.push_back(scalar<float_power>("^", {kFloat8, kFloat8}, kFloat8));
  table.push_back(scalar<float_sqrt>("|/", {kFloat8}, kFloat8));
  table.push_back(scalar<float_cbrt>("||/", {kFloat8}, kFloat8));
  add_numeric(table);
  return table;
}

}  // namespace redquel::sql
