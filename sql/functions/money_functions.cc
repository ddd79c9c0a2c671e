// money: arithmetic, comparison, casts, sum, min and max.

#include <cmath>

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/ordered_numbers.h"
#include "sql/sqlstate.h"
#include "sql/types/money.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Cash = std::int64_t;

SqlError out_of_range() { return SqlError(sqlstate::kNumericValueOutOfRange, "money out of range"); }

Cash add(Cash a, Cash b) {
  Cash sum;
  if (__builtin_add_overflow(a, b, &sum)) throw out_of_range();
  return sum;
}
Cash subtract(Cash a, Cash b) {
  Cash difference;
  if (__builtin_sub_overflow(a, b, &difference)) throw out_of_range();
  return difference;
}
Cash rounded(double value) {
  value = std::rint(value);
  if (!(value >= -0x1p63 && value < 0x1p63)) throw out_of_range();
  return static_cast<Cash>(value);
}

template <class Factor>
Cash multiply(Cash cash, Factor factor) {
  if constexpr (std::is_floating_point_v<Factor>) {
    return rounded(static_cast<double>(cash) * static_cast<double>(factor));
  } else {
    Cash product;
    if (__builtin_mul_overflow(cash, static_cast<Cash>(factor), &product)) throw out_of_range();
    return product;
  }
}
template <class Factor>
Cash multiply_by_money(Factor factor, Cash cash) {
  return multiply(cash, factor);
}
template <class Divisor>
Cash divide(Cash cash, Divisor divisor) {
  if (divisor == 0) throw division_by_zero();
  if constexpr (std::is_floating_point_v<Divisor>) {
    return rounded(static_cast<double>(cash) / static_cast<double>(divisor));
  } else {
    if (divisor == -1) return subtract(0, cash);
    return cash / static_cast<Cash>(divisor);
  }
}
double ratio(Cash a, Cash b) {
  if (b == 0) throw division_by_zero();
  return static_cast<double>(a) / static_cast<double>(b);
}

template <class Number>
void add_number(std::vector<ScalarFunction>& table, Type type) {
  table.push_back(scalar<multiply<Number>>("*", {kMoney, type}, kMoney));
  table.push_back(scalar<multiply_by_money<Number>>("*", {type, kMoney}, kMoney));
  table.push_back(scalar<divide<Number>>("/", {kMoney, type}, kMoney));
}

Numeric to_numeric(Cash cash) { return Numeric::from_int128(cash, 2); }
Cash from_numeric(const Numeric& value) { return (value * Numeric(100)).to_int64(); }
Cash from_integer(std::int64_t value) {
  Cash cash;
  if (__builtin_mul_overflow(value, Cash{100}, &cash)) throw number_out_of_range("bigint");
  return cash;
}

struct Sum {
  Cash sum = 0;
  bool seen = false;
  void add(Cash value) {
    sum = sql::add(sum, value);
    seen = true;
  }
  std::optional<Cash> result() const { return seen ? std::optional(sum) : std::nullopt; }
};

}  // namespace

std::vector<ScalarFunction> money_functions() {
  std::vector<ScalarFunction> table = {
      scalar<add>("+", {kMoney, kMoney}, kMoney),
      scalar<subtract>("-", {kMoney, kMoney}, kMoney),
      scalar<ratio>("/", {kMoney, kMoney}, kFloat8),
      scalar<append_money_words>("cash_words", {kMoney}, kText),
  };
  add_number_order(table, kMoney);
  add_number<std::int16_t>(table, kInt2);
  add_number<std::int32_t>(table, kInt4);
  add_number<std::int64_t>(table, kInt8);
  add_number<float>(table, kFloat4);
  add_number<double>(table, kFloat8);
  return table;
}

std::vector<CastFunction> money_casts() {
  return {
      cast<to_numeric>(kMoney, kNumeric, CastContext::kAssignment),
      cast<from_numeric>(kNumeric, kMoney, CastContext::kAssignment),
      cast<[](std::int32_t value) { return from_integer(value); }>(kInt4, kMoney, CastContext::kAssignment),
      cast<from_integer>(kInt8, kMoney, CastContext::kAssignment),
  };
}

std::vector<AggregateFunction> money_aggregates() {
  std::vector<AggregateFunction> table = {aggregate<Cash, Sum>("sum", kMoney, kMoney)};
  add_number_extremes(table, kMoney);
  return table;
}

}  // namespace redquel::sql
