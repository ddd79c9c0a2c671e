#include "sql/functions/window_function.h"

namespace redquel::sql {

std::span<const WindowFunction> all_window_functions() {
  using enum WindowValue;
  constexpr Oid kAnyElement = oid::kAnyElement;
  static const std::vector<WindowFunction> table = {
      {"row_number", {}, oid::kInt8, kRowNumber},
      {"rank", {}, oid::kInt8, kRank},
      {"dense_rank", {}, oid::kInt8, kDenseRank},
      {"percent_rank", {}, oid::kFloat8, kPercentRank},
      {"cume_dist", {}, oid::kFloat8, kCumulativeDistribution},
      {"ntile", {oid::kInt4}, oid::kInt4, kNtile},
      {"lag", {kAnyElement}, kAnyElement, kLag},
      {"lag", {kAnyElement, oid::kInt4}, kAnyElement, kLag},
      {"lag", {kAnyElement, oid::kInt4, kAnyElement}, kAnyElement, kLag},
      {"lead", {kAnyElement}, kAnyElement, kLead},
      {"lead", {kAnyElement, oid::kInt4}, kAnyElement, kLead},
      {"lead", {kAnyElement, oid::kInt4, kAnyElement}, kAnyElement, kLead},
      {"first_value", {kAnyElement}, kAnyElement, kFirstValue},
      {"last_value", {kAnyElement}, kAnyElement, kLastValue},
      {"nth_value", {kAnyElement, oid::kInt4}, kAnyElement, kNthValue},
  };
  return table;
}

std::vector<const WindowFunction*> find_window_functions(std::string_view name) {
  std::vector<const WindowFunction*> found;
  for (const WindowFunction& function : all_window_functions()) {
    if (function.name == name) found.push_back(&function);
  }
  return found;
}

}  // namespace redquel::sql
