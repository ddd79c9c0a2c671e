#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// Values of char(n) lie in columns without their padding; these are the same with it, as text, for functions that see
/// the blanks.
ColumnPtr with_padding(const ColumnPtr& column);

/// The kernel over a first argument with its padding.
template <Kernel kernel>
ColumnPtr over_padded(std::span<const ColumnPtr> arguments, std::size_t rows, Type result,
                      const EvaluationContext& context) {
  std::vector<ColumnPtr> padded(arguments.begin(), arguments.end());
  padded[0] = with_padding(padded[0]);
  return kernel(padded, rows, result, context);
}

}  // namespace redquel::sql
