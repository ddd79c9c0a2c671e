// pg_column_size(): how many bytes PostgreSQL needs for a value, before it compresses anything.

#include "sql/functions/column_size.h"

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/array_value.h"
#include "sql/types/numeric.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kHeader = 4, kLongestShort = 126;

std::size_t aligned(std::size_t size, char alignment) {
  const std::size_t unit = alignment == 'd' ? 8 : alignment == 'i' ? 4 : alignment == 's' ? 2 : 1;
  return (size + unit - 1) / unit * unit;
}

/// Digits of base 10,000 without zeros at the ends, and a header that is longer where the value is.
std::size_t numeric_size(const Numeric& value) {
  const std::string text = value.to_string();
  std::string_view digits = text;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return 2;  // NaN, Infinity
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string whole(digits.substr(0, point));
  std::string fraction(point < digits.size() ? digits.substr(point + 1) : std::string_view());
  const std::size_t scale = fraction.size();
  whole.insert(0, (4 - whole.size() % 4) % 4, '0');
  fraction.append((4 - fraction.size() % 4) % 4, '0');
  const std::string all = whole + fraction;
  std::size_t first = 0, end = all.size() / 4;
  while (first < end && all.compare(first * 4, 4, "0000") == 0) ++first;
  while (first < end && all.compare((end - 1) * 4, 4, "0000") == 0) --end;
  const auto weight = static_cast<std::ptrdiff_t>(whole.size() / 4) - static_cast<std::ptrdiff_t>(first) - 1;
  const bool is_short = scale <= 63 && (first == end || (weight >= -64 && weight <= 63));
  return (is_short ? 2 : 4) + 2 * (end - first);
}

std::size_t array_size(Oid type, std::string_view text);

/// Without the header of a value whose length is not fixed. 0A000 where PostgreSQL's form is another than ours.
std::size_t payload(Type type, const Column& column, std::size_t row) {
  if (type.oid == oid::kNumeric) return numeric_size(column.ref<Numeric>(row));
  if (storage_of(type) != Storage::kText) throw not_supported("pg_column_size() of type " + format_type(type));
  const std::string_view value = column.get<std::string_view>(row);
  switch (type.oid) {
    case oid::kText:
    case oid::kVarchar:
    case oid::kBytea:
    case oid::kJson:
      return value.size();
    case oid::kBpchar: {
      std::string padded(value);
      append_padding(type, value, padded);
      return padded.size();
    }
    case oid::kBit:
    case oid::kVarbit:
      return 4 + (value.size() + 7) / 8;
    default:
      if (is_array_type(type.oid) && !is_vector_type(type.oid)) return array_size(type.oid, value) - kHeader;
      throw not_supported("pg_column_size() of type " + format_type(type));
  }
}

std::size_t array_size(Oid type, std::string_view text) {
  const ArrayValue array = read_array(type, text);
  const Type element = element_type_of(Type{type});
  const TypeInfo& info = type_info(element.oid);
  const std::size_t header = 16 + 8 * array.dimensions.size();
  const bool has_nulls = std::ranges::any_of(array.elements, [](const auto& item) { return !item; });
  std::size_t size = aligned(header + (has_nulls ? (array.elements.size() + 7) / 8 : 0), 'd');
  if (array.dimensions.empty()) return header;
  for (const auto& item : array.elements) {
    if (!item) continue;
    size = aligned(size, info.alignment);
    if (info.length > 0) {
      size += static_cast<std::size_t>(info.length);
      continue;
    }
    Column one(element);
    append_element(one, *item);
    size += kHeader + payload(element, one, 0);
  }
  return aligned(size, info.alignment);
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
