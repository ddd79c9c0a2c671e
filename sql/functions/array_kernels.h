#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sql/functions/function.h"
#include "sql/types/array_value.h"

namespace redquel::sql {

// Shared code of kernels over arrays of any type: they process whole columns, because the element type is in the columns' type.

using Arguments = std::span<const ColumnPtr>;

inline ArrayValue array_at(const Column& column, std::size_t row) {
  return read_array(column.type().oid, column.get<std::string_view>(row));
}
/// nullopt: NULL.
inline std::optional<ArrayValue> array_or_null(const Column& column, std::size_t row) {
  return column.is_null(row) ? std::nullopt : std::optional(array_at(column, row));
}

/// A value of any type in its storage form; nullopt: NULL. Lives in `text` or in the column.
std::optional<std::string_view> element_at(const Column& column, std::size_t row, std::string& text);

/// = <> < <= > >= @> <@ &&
std::vector<ScalarFunction> array_operators();

/// string_to_array(): no delimiter cuts between all characters, an empty one not at all; parts that equal `null_text` are NULL.
std::vector<std::optional<std::string>> split_text(std::string_view text, std::optional<std::string_view> delimiter,
                                                   std::optional<std::string_view> null_text);

/// Returns true if an argument of the row is NULL.
inline bool any_null(Arguments arguments, std::size_t row) {
  for (const ColumnPtr& argument : arguments) {
    if (argument->is_null(row)) return true;
  }
  return false;
}

/// `append(column, row)` appends the value of each row to the result; constant arguments give a constant.
template <class Append>
ColumnPtr each_row(Arguments arguments, std::size_t rows, Type result, const Append& append) {
  bool constant = rows > 0 && !arguments.empty();
  for (const ColumnPtr& argument : arguments) constant = constant && argument->is_constant();
  Column column(result);
  const std::size_t computed = constant ? 1 : rows;
  column.reserve(computed);
  for (std::size_t row = 0; row < computed; ++row) append(column, row);
  if (constant) return std::make_shared<const Column>(Column::constant(result, column.datum(0), rows));
  return std::make_shared<const Column>(std::move(column));
}

/// Like each_row(), but a row with a NULL argument is NULL.
template <class Append>
ColumnPtr each_strict_row(Arguments arguments, std::size_t rows, Type result, const Append& append) {
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    if (any_null(arguments, row)) {
      column.append_null();
    } else {
      append(column, row);
    }
  });
}

inline void append_array_to(Column& column, const ArrayValue& value) { column.append(array_text(column.type().oid, value)); }

}  // namespace redquel::sql
