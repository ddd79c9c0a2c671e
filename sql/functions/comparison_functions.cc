// The operators = <> < <= > >= of every type, across types where PostgreSQL has them (pg_operator), and
// text_pattern_ops'.

#include <cmath>
#include <functional>

#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/compare.h"
#include "sql/types/datetime.h"

namespace redquel::sql {
namespace {

/// NaN equals itself and is above every other value.
template <class Operator>
bool compare_as_floats(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return Operator{}(std::isnan(a) ? 1 : 0, std::isnan(b) ? 1 : 0);
  return Operator{}(a, b);
}

template <class A, class B>
struct Plain {
  template <class Operator>
  static bool apply(const A& a, const B& b) {
    return Operator{}(a, b);
  }
  using Left = A;
  using Right = B;
};

struct OidOrder {
  using Left = std::int32_t;
  using Right = std::int32_t;
  template <class Operator>
  static bool apply(std::int32_t a, std::int32_t b) {
    return Operator{}(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  }
};

template <class A, class B>
struct FloatOrder {
  using Left = A;
  using Right = B;
  template <class Operator>
  static bool apply(A a, B b) {
    return compare_as_floats<Operator>(a, b);
  }
};

struct BlankPaddedOrder {
  using Left = std::string_view;
  using Right = std::string_view;
  template <class Operator>
  static bool apply(std::string_view a, std::string_view b) {
    return Operator{}(without_trailing_blanks(a), without_trailing_blanks(b));
  }
};

struct IntervalOrder {
  using Left = Interval;
  using Right = Interval;
  template <class Operator>
  static bool apply(const Interval& a, const Interval& b) {
    return Operator{}(compare_intervals(a, b), 0);
  }
};

/// A date as the timestamp of its midnight; finite dates that no timestamp reaches are beyond all but infinity.
std::int64_t midnight(std::int32_t date) {
  constexpr std::int64_t kEndDateOfTimestamps = kEndTimestamp / kMicrosecondsPerDay;
  if (date == kDateNegativeInfinity) return kTimestampNegativeInfinity;
  if (date == kDateInfinity) return kTimestampInfinity;
  if (date >= kEndDateOfTimestamps) return kTimestampInfinity - 1;
  return date * kMicrosecondsPerDay;
}

struct DateTimestampOrder {
  using Left = std::int32_t;
  using Right = std::int64_t;
  template <class Operator>
  static bool apply(std::int32_t date, std::int64_t timestamp) {
    return Operator{}(midnight(date), timestamp);
  }
};

struct TimestampDateOrder {
  using Left = std::int64_t;
  using Right = std::int32_t;
  template <class Operator>
  static bool apply(std::int64_t timestamp, std::int32_t date) {
    return Operator{}(timestamp, midnight(date));
  }
};

/// A local time as an instant of the session's zone.
std::int64_t instant(const EvaluationContext& context, std::int64_t local) {
  if (!is_finite_timestamp(local) || local >= kEndTimestamp) return local;
  return local - session_zone(*context.settings).offset_of_local(local) * kMicrosecondsPerSecond;
}

template <class Operator>
bool timestamp_zoned(const EvaluationContext& context, std::int64_t local, std::int64_t zoned) {
  return Operator{}(instant(context, local), zoned);
}
template <class Operator>
bool zoned_timestamp(const EvaluationContext& context, std::int64_t zoned, std::int64_t local) {
  return Operator{}(zoned, instant(context, local));
}
template <class Operator>
bool date_zoned(const EvaluationContext& context, std::int32_t date, std::int64_t zoned) {
  return Operator{}(instant(context, midnight(date)), zoned);
}
template <class Operator>
bool zoned_date(const EvaluationContext& context, std::int64_t zoned, std::int32_t date) {
  return Operator{}(zoned, instant(context, midnight(date)));
}

template <class Order, class Operator>
bool holds(const typename Order::Left& a, const typename Order::Right& b) {
  return Order::template apply<Operator>(a, b);
}

template <class Order>
void add(std::vector<ScalarFunction>& table, Type left, Type right) {
  table.push_back(scalar<holds<Order, std::equal_to<>>>("=", {left, right}, kBool));
  table.push_back(scalar<holds<Order, std::not_equal_to<>>>("<>", {left, right}, kBool));
  table.push_back(scalar<holds<Order, std::less<>>>("<", {left, right}, kBool));
  table.push_back(scalar<holds<Order, std::less_equal<>>>("<=", {left, right}, kBool));
  table.push_back(scalar<holds<Order, std::greater<>>>(">", {left, right}, kBool));
  table.push_back(scalar<holds<Order, std::greater_equal<>>>(">=", {left, right}, kBool));
}

template <class A, class B>
void add_plain(std::vector<ScalarFunction>& table, Type left, Type right) {
  add<Plain<A, B>>(table, left, right);
}

void add_integers(std::vector<ScalarFunction>& table) {
  using std::int16_t, std::int32_t, std::int64_t;
  add_plain<int16_t, int16_t>(table, kInt2, kInt2);
  add_plain<int16_t, int32_t>(table, kInt2, kInt4);
  add_plain<int16_t, int64_t>(table, kInt2, kInt8);
  add_plain<int32_t, int16_t>(table, kInt4, kInt2);
  add_plain<int32_t, int32_t>(table, kInt4, kInt4);
  add_plain<int32_t, int64_t>(table, kInt4, kInt8);
  add_plain<int64_t, int16_t>(table, kInt8, kInt2);
  add_plain<int64_t, int32_t>(table, kInt8, kInt4);
  add_plain<int64_t, int64_t>(table, kInt8, kInt8);
}

void add_times(std::vector<ScalarFunction>& table) {
  add_plain<std::int32_t, std::int32_t>(table, kDate, kDate);
  add_plain<std::int64_t, std::int64_t>(table, kTime, kTime);
  add_plain<std::int64_t, std::int64_t>(table, kTimestamp, kTimestamp);
  add_plain<std::int64_t, std::int64_t>(table, kTimestamptz, kTimestamptz);
  add<IntervalOrder>(table, kInterval, kInterval);
  add<DateTimestampOrder>(table, kDate, kTimestamp);
  add<TimestampDateOrder>(table, kTimestamp, kDate);
}

template <class Operator>
void add_zoned(std::vector<ScalarFunction>& table, std::string_view name) {
  constexpr auto stable = Volatility::kStable;
  table.push_back(scalar<timestamp_zoned<Operator>>(name, {kTimestamp, kTimestamptz}, kBool, stable));
  table.push_back(scalar<zoned_timestamp<Operator>>(name, {kTimestamptz, kTimestamp}, kBool, stable));
  table.push_back(scalar<date_zoned<Operator>>(name, {kDate, kTimestamptz}, kBool, stable));
  table.push_back(scalar<zoned_date<Operator>>(name, {kTimestamptz, kDate}, kBool, stable));
}

template <class Order>
void add_pattern_order(std::vector<ScalarFunction>& table, Type type) {
  table.push_back(scalar<holds<Order, std::less<>>>("~<~", {type, type}, kBool));
  table.push_back(scalar<holds<Order, std::less_equal<>>>("~<=~", {type, type}, kBool));
  table.push_back(scalar<holds<Order, std::greater<>>>("~>~", {type, type}, kBool));
  table.push_back(scalar<holds<Order, std::greater_equal<>>>("~>=~", {type, type}, kBool));
}

}  // namespace

std::vector<ScalarFunction> comparison_functions() {
  using Text = std::string_view;
  std::vector<ScalarFunction> table;
  add_plain<bool, bool>(table, kBool, kBool);
  add_integers(table);
  add<OidOrder>(table, kOidType, kOidType);
  add<FloatOrder<float, float>>(table, kFloat4, kFloat4);
  add<FloatOrder<float, double>>(table, kFloat4, kFloat8);
  add<FloatOrder<double, float>>(table, kFloat8, kFloat4);
  add<FloatOrder<double, double>>(table, kFloat8, kFloat8);
  add_plain<Numeric, Numeric>(table, kNumeric, kNumeric);
  // The C collation: bytes decide, so text, name and bytea compare alike.
  add_plain<Text, Text>(table, kText, kText);
  add_plain<Text, Text>(table, kName, kName);
  add_plain<Text, Text>(table, kName, kText);
  add_plain<Text, Text>(table, kText, kName);
  add_plain<Text, Text>(table, kChar, kChar);
  add_plain<Text, Text>(table, kBytea, kBytea);
  add<BlankPaddedOrder>(table, kBpchar, kBpchar);
  add_plain<Uuid, Uuid>(table, kUuid, kUuid);
  add_times(table);
  add_zoned<std::equal_to<>>(table, "=");
  add_zoned<std::not_equal_to<>>(table, "<>");
  add_zoned<std::less<>>(table, "<");
  add_zoned<std::less_equal<>>(table, "<=");
  add_zoned<std::greater<>>(table, ">");
  add_zoned<std::greater_equal<>>(table, ">=");
  add_pattern_order<Plain<Text, Text>>(table, kText);
  add_pattern_order<BlankPaddedOrder>(table, kBpchar);
  return table;
}

}  // namespace redquel::sql
