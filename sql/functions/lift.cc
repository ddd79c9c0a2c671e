#include "sql/functions/lift.h"

#include <algorithm>

#include "sql/interrupts.h"

namespace redquel::sql {
namespace {

/// Rows that are NULL because an argument is; empty: none. nullopt: all of them.
std::optional<std::vector<std::uint8_t>> null_rows(std::span<const ColumnPtr> arguments, std::size_t rows,
                                                   std::span<const bool> strict) {
  std::vector<std::uint8_t> nulls;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (!strict[std::min(a, strict.size() - 1)]) continue;
    const Column& column = *arguments[a];
    if (!column.has_nulls()) continue;
    if (column.is_constant()) {
      if (column.is_null(0)) return std::nullopt;
      continue;
    }
    const std::vector<std::uint8_t>& mask = column.null_mask();
    if (nulls.empty()) {
      nulls.assign(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(rows));
    } else {
      for (std::size_t row = 0; row < rows; ++row) nulls[row] |= mask[row];
    }
  }
  return nulls;
}

}  // namespace

ColumnPtr lift::run(Compute compute, bool pure, std::span<const bool> strict, std::span<const ColumnPtr> arguments,
                    std::size_t rows, Type result, const EvaluationContext& context) {
  if (rows == 0) return std::make_shared<const Column>(result);
  bool once = pure;
  for (const ColumnPtr& argument : arguments) once = once && argument->is_constant();
  const std::size_t computed = once ? 1 : rows;
  const std::optional<std::vector<std::uint8_t>> nulls = null_rows(arguments, computed, strict);
  if (!nulls) return std::make_shared<const Column>(Column::constant(result, Datum{}, rows));
  check_interrupts();
  Column column = compute(arguments, *nulls, computed, result, context);
  if (once) column = Column::constant(result, column.datum(0), rows);
  return std::make_shared<const Column>(std::move(column));
}

}  // namespace redquel::sql
