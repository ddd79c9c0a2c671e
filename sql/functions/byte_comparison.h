#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/functions/lift.h"

namespace redquel::sql {

// For types whose values in memory are bytes that compare as the values do: bit strings, network addresses, timetz.

template <class Operator>
bool compare_bytes(std::string_view a, std::string_view b) {
  return Operator{}(a, b);
}

/// = <> < <= > >= of the type.
inline void append_byte_comparisons(std::vector<ScalarFunction>& table, Type type) {
  table.push_back(scalar<compare_bytes<std::equal_to<>>>("=", {type, type}, kBool));
  table.push_back(scalar<compare_bytes<std::not_equal_to<>>>("<>", {type, type}, kBool));
  table.push_back(scalar<compare_bytes<std::less<>>>("<", {type, type}, kBool));
  table.push_back(scalar<compare_bytes<std::less_equal<>>>("<=", {type, type}, kBool));
  table.push_back(scalar<compare_bytes<std::greater<>>>(">", {type, type}, kBool));
  table.push_back(scalar<compare_bytes<std::greater_equal<>>>(">=", {type, type}, kBool));
}

/// The state of max() and min() of one group.
template <bool greatest>
struct ExtremeBytes {
  std::string value;
  bool seen = false;
  void add(std::string_view candidate) {
    if (!seen || (greatest ? candidate > value : candidate < value)) value = candidate;
    seen = true;
  }
  std::optional<std::string> result() const { return seen ? std::optional(value) : std::nullopt; }
  std::size_t heap() const { return value.capacity(); }
};

}  // namespace redquel::sql
