#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

/// The value that the window operator computes for a window function that is no aggregate (manual 9.22).
enum class WindowValue : std::uint8_t {
  kRowNumber,
  kRank,
  kDenseRank,
  kPercentRank,
  kCumulativeDistribution,
  kNtile,
  kLag,
  kLead,
  kFirstValue,
  kLastValue,
  kNthValue,
};

struct WindowFunction {
  std::string_view name;
  std::vector<Oid> arguments;
  Oid result;  // kAnyElement: the first argument's type
  WindowValue value;
};

/// All overloads of a name; valid for the life of the process.
std::vector<const WindowFunction*> find_window_functions(std::string_view name);
std::span<const WindowFunction> all_window_functions();

struct ResolvedWindowFunction {
  const WindowFunction* function = nullptr;
  std::vector<Type> arguments;
  Type result;
};
/// Like resolve_function() (resolve.h). lag(value, offset, default): the value and the default get their common type.
ResolvedWindowFunction resolve_window_function(std::string_view name, std::span<const Type> arguments,
                                               std::optional<std::uint32_t> offset = {});

}  // namespace redquel::sql
