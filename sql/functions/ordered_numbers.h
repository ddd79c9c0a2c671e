#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sql/functions/group_states.h"
#include "sql/functions/lift.h"

namespace redquel::sql {

// Operators and aggregates of types whose values are numbers in int8's order.

namespace ordered_numbers {

template <class Operator>
bool holds(std::int64_t a, std::int64_t b) {
  return Operator{}(a, b);
}

template <class Better>
struct Extreme {
  std::int64_t value = 0;
  bool seen = false;
  void add(std::int64_t candidate) {
    if (!seen || Better{}(candidate, value)) value = candidate;
    seen = true;
  }
  std::optional<std::int64_t> result() const { return seen ? std::optional(value) : std::nullopt; }
};

}  // namespace ordered_numbers

/// = <> < <= > >=
inline void add_number_order(std::vector<ScalarFunction>& table, Type type) {
  using ordered_numbers::holds;
  table.push_back(scalar<holds<std::equal_to<>>>("=", {type, type}, kBool));
  table.push_back(scalar<holds<std::not_equal_to<>>>("<>", {type, type}, kBool));
  table.push_back(scalar<holds<std::less<>>>("<", {type, type}, kBool));
  table.push_back(scalar<holds<std::less_equal<>>>("<=", {type, type}, kBool));
  table.push_back(scalar<holds<std::greater<>>>(">", {type, type}, kBool));
  table.push_back(scalar<holds<std::greater_equal<>>>(">=", {type, type}, kBool));
}

/// min and max.
inline void add_number_extremes(std::vector<AggregateFunction>& table, Type type) {
  table.push_back(aggregate<std::int64_t, ordered_numbers::Extreme<std::less<>>>("min", type, type));
  table.push_back(aggregate<std::int64_t, ordered_numbers::Extreme<std::greater<>>>("max", type, type));
}

}  // namespace redquel::sql
