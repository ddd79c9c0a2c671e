#pragma once

#include <string_view>
#include <vector>

#include "sql/functions/lift.h"
#include "sql/functions/padded_text.h"

namespace redquel::sql {

/// ~~, ~ and their kin: for text, name and char(n), whose padding counts.
template <auto body>
void add_pattern_operator(std::vector<ScalarFunction>& table, std::string_view name) {
  table.push_back(scalar<body>(name, {kText, kText}, kBool));
  table.push_back(scalar<body>(name, {kName, kText}, kBool));
  table.push_back(column_function(name, {kBpchar, kText}, kBool, over_padded<kernel_of<body>()>, Volatility::kImmutable, true));
}

}  // namespace redquel::sql
