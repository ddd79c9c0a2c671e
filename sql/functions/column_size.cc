// pg_column_size(): how many bytes PostgreSQL needs for a value, before it compresses anything.

#include "sql/functions/column_size.h"

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kHeader = 4, kLongestShort = 126;

/// Without the header of a value whose length is not fixed. 0A000 where PostgreSQL's form is another than ours.
std::size_t payload(Type type, const Column& column, std::size_t row) {
  const auto size = operations_of(type.oid).payload_size;
  if (size == nullptr) throw not_supported("pg_column_size() of type " + format_type(type));
  return size(column, row);
}

template <bool stored>
ColumnPtr column_size(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Type type = arguments[0]->type();
  const std::int16_t length = type_info(type.oid).length;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    std::size_t size = 0;
    if (length > 0) {
      size = static_cast<std::size_t>(length);
    } else if (length == -2) {
      size = arguments[0]->get<std::string_view>(row).size() + 1;
    } else {
      size = payload(type, *arguments[0], row);
      size += stored && size <= kLongestShort ? 1 : kHeader;
    }
    column.append(static_cast<std::int32_t>(size));
  });
}

}  // namespace

const ScalarFunction& stored_column_size() {
  static const ScalarFunction function = column_function("pg_column_size", {kAny}, kInt4, column_size<true>, Volatility::kStable, true);
  return function;
}

std::vector<ScalarFunction> column_size_functions() {
  return {column_function("pg_column_size", {kAny}, kInt4, column_size<false>, Volatility::kStable, true)};
}

}  // namespace redquel::sql
