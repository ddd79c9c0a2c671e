#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace redquel::sql {

/// Names of a built-in function's parameters (pg_proc.proargnames), for named notation. Those from `names.size() -
/// defaults.size()` on may be left out; their defaults are literals as SQL writes them between quotes.
struct ParameterNames {
  std::string_view function;
  std::vector<std::string_view> names;
  std::vector<std::string_view> defaults = {};
};

/// Every overload of the function that has names.
std::span<const ParameterNames> parameter_names(std::string_view function);

}  // namespace redquel::sql
