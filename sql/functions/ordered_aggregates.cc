// min and max of every ordered type that PostgreSQL 15 has them for.

#include <cmath>

#include "sql/functions/families.h"
#include "sql/functions/group_states.h"
#include "sql/types/compare.h"
#include "sql/types/datetime.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// The comparison of two values. kKeepsFirst: the first of equal values stays (equal values may print differently).
struct Natural {
  static constexpr bool kKeepsFirst = false, kIsTotal = true;
  template <class T>
  static int order(const T& a, const T& b) {
    return a < b ? -1 : b < a ? 1 : 0;
  }
};
struct Unsigned {
  static constexpr bool kKeepsFirst = false;
  static int order(std::int32_t a, std::int32_t b) {
    return Natural::order(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  }
};
struct Float {
  static constexpr bool kKeepsFirst = false;
  static int order(double a, double b) { return compare_floats(a, b); }
};
struct Exact {
  static constexpr bool kKeepsFirst = false;
  static int order(const Numeric& a, const Numeric& b) { return a.compare(b); }
};
struct Duration {
  static constexpr bool kKeepsFirst = false;
  static int order(const Interval& a, const Interval& b) { return compare_intervals(a, b); }
};
struct Bytes {
  static constexpr bool kKeepsFirst = false, kIsTotal = true;
  static int order(std::string_view a, std::string_view b) { return a.compare(b); }
};
struct AnyCase {
  static constexpr bool kKeepsFirst = false;
  static int order(std::string_view a, std::string_view b) { return compare_citext(a, b); }
};
struct BlankPadded {
  static constexpr bool kKeepsFirst = true;
  static int order(std::string_view a, std::string_view b) { return compare_bpchar(a, b); }
};

template <class Stored, class Order, bool greatest>
struct Extreme {
  Stored value{};
  bool seen = false;

  template <class T>
  void add(const T& candidate) {
    if (seen) {
      const int order = greatest ? Order::order(value, candidate) : Order::order(candidate, value);
      if (order > 0 || (order == 0 && Order::kKeepsFirst)) return;
    }
    value = Stored(candidate);
    seen = true;
  }
  void merge(const Extreme& other)
    requires requires { Order::kIsTotal; }  // equal values are the same
  {
    if (other.seen) add(other.value);
  }
  std::optional<Stored> result() const { return seen ? std::optional(value) : std::nullopt; }
  std::size_t heap() const {
    if constexpr (std::is_same_v<Stored, std::string>) {
      return value.capacity();
    } else {
      return 0;
    }
  }
};

template <class T, class Order, class Stored = T>
void add(std::vector<AggregateFunction>& table, std::initializer_list<Type> types) {
  for (Type type : types) {
    table.push_back(aggregate<T, Extreme<Stored, Order, false>>("min", type, type));
    table.push_back(aggregate<T, Extreme<Stored, Order, true>>("max", type, type));
  }
}

}  // namespace

std::vector<AggregateFunction> ordered_aggregates() {
  std::vector<AggregateFunction> table;
  add<std::int16_t, Natural>(table, {kInt2});
  add<std::int32_t, Natural>(table, {kInt4, kDate});
  add<std::int32_t, Unsigned>(table, {kOidType});
  add<std::int64_t, Natural>(table, {kInt8, kTime, kTimestamp, kTimestamptz});
  add<float, Float>(table, {kFloat4});
  add<double, Float>(table, {kFloat8});
  add<Numeric, Exact>(table, {kNumeric});
  add<Interval, Duration>(table, {kInterval});
  add<std::string_view, Bytes, std::string>(table, {kText});
  add<std::string_view, BlankPadded, std::string>(table, {kBpchar});
  add<std::string_view, AnyCase, std::string>(table, {kCitext});
  return table;
}

}  // namespace redquel::sql
