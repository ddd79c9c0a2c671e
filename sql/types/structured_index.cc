#include "sql/types/structured_index.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "sql/types/array_value.h"
#include "sql/types/index_value.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/structured_compare.h"
#include "sql/types/text_io.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

// The end of an array comes before each element, NULL after.
constexpr char kEnd = '\2', kValue = '\3', kNull = '\4';
constexpr char kEscape = '\1';  // twice: the end of an element's bytes; before kEnd: a byte 1 of its own

std::string hexadecimal(std::int64_t value) { return fmt::format("{:016x}", static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63)); }

std::string ordered_float(double value) {
  if (std::isnan(value)) return std::string(16, 'g');
  const auto bits = std::bit_cast<std::int64_t>(value == 0 ? 0.0 : value);
  return hexadecimal(bits < 0 ? ~(bits ^ INT64_MIN) : bits);
}

/// The bytes of one element, in order among those of its type.
std::string ordered_element(Type type, std::string_view text) {
  if (type.oid == oid::kBytea) return std::string(text);
  const Datum value = stored_value(type, text);
  switch (storage_of(type)) {
    case Storage::kInt2:
      return hexadecimal(std::get<std::int16_t>(value));
    case Storage::kInt4: {
      const std::int32_t number = std::get<std::int32_t>(value);
      return hexadecimal(type.oid == oid::kInt4 || type.oid == oid::kDate ? number : std::int64_t{static_cast<std::uint32_t>(number)});
    }
    case Storage::kInt8:
      return hexadecimal(std::get<std::int64_t>(value));
    case Storage::kFloat4:
      return ordered_float(std::get<float>(value));
    case Storage::kFloat8:
      return ordered_float(std::get<double>(value));
    default:
      return ordered_member_prefix(type, value);
  }
}

void append_escaped(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    out += byte;
    if (byte == kEscape) out += kEnd;
  }
  out.append(2, kEscape);
}

/// Ranges one after the other; bounds in the order of their values, then of their sides.
std::string ordered_ranges(Oid type, std::string_view text) {
  const Type subtype = range_subtype(is_multirange_type(type) ? range_in(type) : type);
  std::string bytes;
  const auto append_bound = [&](const RangeBound& bound, char infinite, char inclusive, char exclusive) {
    if (!bound.value) {
      bytes += infinite;
      return;
    }
    bytes += kValue;
    append_escaped(ordered_element(subtype, format_value(subtype, *bound.value)), bytes);
    bytes += bound.inclusive ? inclusive : exclusive;
  };
  for (const RangeValue& range : read_ranges(type, text)) {
    bytes += kValue;
    append_bound(range.lower, kEnd, '1', '2');
    append_bound(range.upper, kNull, '1', '0');
  }
  return bytes + kEnd;
}

/// Fields one after the other, NULL last.
std::string ordered_row(Oid type, std::string_view text) {
  const RowValue row = read_row(type, text);
  std::string bytes;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    bytes += row.fields[i] ? kValue : kNull;
    if (row.fields[i]) append_escaped(ordered_element(row.types[i], *row.fields[i]), bytes);
  }
  return bytes + kEnd;
}

std::string canonical_row(Oid type, std::string_view text) {
  RowValue row = read_row(type, text), canonical;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    std::optional<std::string> field;
    if (row.fields[i]) field = canonical_text(row.types[i], stored_value(row.types[i], *row.fields[i]));
    canonical.add(row.types[i], field, row.names.empty() ? std::string() : row.names[i]);
  }
  return row_text(type, canonical);
}

/// numrange: the only subtype of which equal values print differently.
std::string canonical_ranges(Oid type, std::string_view text) {
  const Type subtype = range_subtype(is_multirange_type(type) ? range_in(type) : type);
  RangeSet ranges = read_ranges(type, text);
  for (RangeValue& range : ranges) {
    for (RangeBound* bound : {&range.lower, &range.upper}) {
      if (bound->value) bound->value = parse_value(subtype, canonical_text(subtype, *bound->value), {});
    }
  }
  return ranges_text(type, ranges);
}

}  // namespace

std::string canonical_structured_text(Oid type, std::string_view text) {
  if (has_textual_equality(type)) return std::string(text);
  if (is_row_type(type)) return canonical_row(type, text);
  if (!is_array_type(type)) return canonical_ranges(type, text);
  ArrayValue array = read_array(type, text);
  const Type element{type_info(type).element};
  std::vector<std::optional<std::string_view>> elements = std::move(array.elements);
  array.elements.clear();
  for (const auto& item : elements) {
    if (item) {
      array.add(canonical_text(element, stored_value(element, *item)));
    } else {
      array.elements.push_back(std::nullopt);
    }
  }
  return array_text(type, array);
}

std::string ordered_structured_bytes(Oid type, std::string_view text) {
  if (is_enum_type(type)) {
    const EnumLabel* label = find_label(type, text);
    return ordered_float(label == nullptr ? 0 : label->order);
  }
  if (is_row_type(type)) return ordered_row(type, text);
  if (!is_array_type(type)) return ordered_ranges(type, text);
  const ArrayValue array = read_array(type, text);
  const Type element{type_info(type).element};
  std::string bytes;
  for (const auto& item : array.elements) {
    bytes += item ? kValue : kNull;
    if (item) append_escaped(ordered_element(element, *item), bytes);
  }
  bytes += kEnd;
  bytes += static_cast<char>('0' + array.dimensions.size());
  for (const ArrayDimension& dimension : array.dimensions) bytes += hexadecimal(dimension.length);
  for (const ArrayDimension& dimension : array.dimensions) bytes += hexadecimal(dimension.lower);
  return bytes;
}

}  // namespace redquel::sql
