// *= *< and their kin (manual 9.24.6): rows compared by the bytes that PostgreSQL has of their fields in memory, so that 1.0 and 1.00
// differ. Equality needs no such bytes: values that differ in them differ in their storage form, too.

#include <algorithm>
#include <functional>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {
namespace {

/// Bytes whose order is that of PostgreSQL's images.
std::string image_of(Type type, std::string_view stored) {
  const auto image = operations_of(type.oid).memory_image;
  if (image != nullptr) return image(type, stored_value(type, stored));
  throw SqlError(sqlstate::kFeatureNotSupported, "the order of type " + format_type(type) + " in memory is not supported by redquel");
}

void check_same_columns(const RowValue& a, const RowValue& b) {
  const std::size_t common = std::min(a.types.size(), b.types.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a.types[i].oid == b.types[i].oid) continue;
    throw SqlError(sqlstate::kDatatypeMismatch, "cannot compare dissimilar column types " + format_type(a.types[i]) + " and " +
                                                    format_type(b.types[i]) + " at record column " + std::to_string(i + 1));
  }
  if (a.types.size() != b.types.size()) {
    throw SqlError(sqlstate::kDatatypeMismatch, "cannot compare record types with different numbers of columns");
  }
}

bool same_images(const RowValue& a, const RowValue& b) {
  check_same_columns(a, b);
  return a.fields == b.fields;
}

/// NULL is behind everything.
int compare_images(const RowValue& a, const RowValue& b) {
  const std::size_t common = std::min(a.fields.size(), b.fields.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a.types[i].oid != b.types[i].oid) break;
    if (a.fields[i] == b.fields[i]) continue;
    if (!a.fields[i] || !b.fields[i]) return a.fields[i] ? -1 : 1;
    return image_of(a.types[i], *a.fields[i]).compare(image_of(b.types[i], *b.fields[i]));
  }
  check_same_columns(a, b);
  return 0;
}

template <class Append>
ColumnPtr of_two_rows(Arguments arguments, std::size_t rows, Type result, const Append& append) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    append(column, read_row(arguments[0]->type().oid, arguments[0]->get<std::string_view>(row)),
           read_row(arguments[1]->type().oid, arguments[1]->get<std::string_view>(row)));
  });
}

template <bool wanted>
ColumnPtr images_equal(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return of_two_rows(arguments, rows, result,
                     [](Column& column, const RowValue& a, const RowValue& b) { column.append(same_images(a, b) == wanted); });
}

template <class Operator>
ColumnPtr images_ordered(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return of_two_rows(arguments, rows, result,
                     [](Column& column, const RowValue& a, const RowValue& b) { column.append(Operator{}(compare_images(a, b), 0)); });
}

ColumnPtr image_order(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return of_two_rows(arguments, rows, result, [](Column& column, const RowValue& a, const RowValue& b) {
    const int order = compare_images(a, b);
    column.append(static_cast<std::int32_t>(order < 0 ? -1 : order > 0 ? 1 : 0));
  });
}

}  // namespace

std::vector<ScalarFunction> record_image_functions() {
  constexpr Type kRow{oid::kRecord};
  const auto row = [&](std::string_view name, Type result, Kernel kernel) {
    return column_function(name, {kRow, kRow}, result, kernel, Volatility::kImmutable, true);
  };
  return {row("*=", kBool, images_equal<true>),
          row("*<>", kBool, images_equal<false>),
          row("*<", kBool, images_ordered<std::less<>>),
          row("*<=", kBool, images_ordered<std::less_equal<>>),
          row("*>", kBool, images_ordered<std::greater<>>),
          row("*>=", kBool, images_ordered<std::greater_equal<>>),
          row("btrecordimagecmp", kInt4, image_order)};
}

}  // namespace redquel::sql
