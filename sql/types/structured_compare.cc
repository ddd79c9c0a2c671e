#include "sql/types/structured_compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/compare.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/text_order.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

/// Elements first, then how many there are, then the shape.
int compare_arrays(Oid type, std::string_view a, std::string_view b) {
  const ArrayValue left = read_array(type, a), right = read_array(type, b);
  const Oid element = type_info(type).element;
  const std::size_t common = std::min(left.elements.size(), right.elements.size());
  for (std::size_t i = 0; i < common; ++i) {
    const auto &x = left.elements[i], &y = right.elements[i];
    if (!x || !y) {  // NULL is above every value
      if (x.has_value() != y.has_value()) return x ? -1 : 1;
      continue;
    }
    if (const int order = compare_elements(element, *x, *y); order != 0) return order;
  }
  const auto compare_numbers = [](auto x, auto y) { return (x > y) - (x < y); };
  if (const int order = compare_numbers(left.elements.size(), right.elements.size()); order != 0) return order;
  if (const int order = compare_numbers(left.dimensions.size(), right.dimensions.size()); order != 0) return order;
  for (std::size_t i = 0; i < left.dimensions.size(); ++i) {
    if (const int order = compare_numbers(left.dimensions[i].length, right.dimensions[i].length); order != 0) return order;
  }
  for (std::size_t i = 0; i < left.dimensions.size(); ++i) {
    if (const int order = compare_numbers(left.dimensions[i].lower, right.dimensions[i].lower); order != 0) return order;
  }
  return 0;
}

/// Field by field; both rows must have fields of the same types. 42804.
int compare_rows(Oid type, std::string_view a, std::string_view b) {
  const RowValue left = read_row(type, a), right = read_row(type, b);
  const std::size_t common = std::min(left.fields.size(), right.fields.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (left.types[i].oid != right.types[i].oid) {
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("cannot compare dissimilar column types {} and {} at record column {}",
                                                              format_type(Type{left.types[i].oid}), format_type(Type{right.types[i].oid}), i + 1));
    }
    const auto &x = left.fields[i], &y = right.fields[i];
    if (!x || !y) {  // NULL is above every value
      if (x.has_value() != y.has_value()) return x ? -1 : 1;
      continue;
    }
    if (const int order = compare_elements(left.types[i].oid, *x, *y); order != 0) return order;
  }
  if (left.fields.size() != right.fields.size()) {
    throw SqlError(sqlstate::kDatatypeMismatch, "cannot compare record types with different numbers of columns");
  }
  return 0;
}

/// In the order in which the type declares its labels.
int compare_labels(Oid type, std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const EnumLabel *left = find_label(type, a), *right = find_label(type, b);
  if (left == nullptr || right == nullptr) throw SqlError(sqlstate::kDataCorrupted, "a stored value is no label of its enum type");
  return left->order < right->order ? -1 : 1;
}

std::uint64_t hash_element(Oid type, std::string_view text) {
  if (storage_of(Type{type}) == Storage::kText) return hash_text_form(type, text);
  return hash(Type{type}, parse_value(Type{type}, text, {}));
}

std::uint64_t hash_array(Oid type, std::string_view value) {
  const ArrayValue array = read_array(type, value);
  std::uint64_t result = 1;
  for (const auto& element : array.elements) {
    result = result * 31 + (element ? hash_element(type_info(type).element, *element) : 0);
  }
  return result;
}

std::uint64_t hash_row(Oid type, std::string_view value) {
  const RowValue row = read_row(type, value);
  std::uint64_t result = 1;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    result = result * 31 + (row.fields[i] ? hash_element(row.types[i].oid, *row.fields[i]) : 0);
  }
  return result;
}

std::uint64_t hash_ranges(Oid type, std::string_view value) {
  const Type subtype = range_subtype(is_multirange_type(type) ? range_in(type) : type);
  std::uint64_t result = 1;
  for (const RangeValue& range : read_ranges(type, value)) {
    for (const RangeBound* bound : {&range.lower, &range.upper}) {
      result = result * 31 + (bound->value ? hash(subtype, *bound->value) : 0) + (bound->inclusive ? 1 : 0);
    }
  }
  return result;
}

}  // namespace

bool is_structured(Oid type) {
  const TypeInfo* info = find_type(type);
  if (info == nullptr) return false;
  return info->category == TypeCategory::kArray || info->category == kRangeCategory || info->category == kEnumCategory ||
         info->category == kCompositeCategory || type == oid::kRecord || type == oid::kRecordArray;
}

bool has_textual_equality(Oid type) {
  switch (type) {
    case oid::kNumeric:
    case oid::kFloat4:
    case oid::kFloat8:
    case oid::kInterval:
    case oid::kBpchar:
    case oid::kJsonb:
    case oid::kRecord:
      return false;
    default:
      if (is_composite_type(type)) {
        return std::ranges::all_of(find_user_type(type)->fields,
                                   [](const CompositeField& field) { return has_textual_equality(field.type.oid); });
      }
      if (is_multirange_type(type)) return has_textual_equality(range_subtype(range_in(type)).oid);
      if (is_range_type(type)) return has_textual_equality(range_subtype(type).oid);
      return !is_array_type(type) || has_textual_equality(type_info(type).element);
  }
}

int compare_structured(Oid type, std::string_view a, std::string_view b) {
  if (is_enum_type(type)) return compare_labels(type, a, b);
  if (is_row_type(type)) return compare_rows(type, a, b);
  return is_array_type(type) ? compare_arrays(type, a, b) : compare_ranges(type, a, b);
}

std::uint64_t hash_structured(Oid type, std::string_view value) {
  if (is_row_type(type)) return hash_row(type, value);
  return is_array_type(type) ? hash_array(type, value) : hash_ranges(type, value);
}

int compare_elements(Oid type, std::string_view a, std::string_view b) {
  // The text of bytea is in the order of its bytes, too.
  if (is_kept_as_text(type) || type == oid::kBytea) return compare_text_form(type, a, b);
  return compare(Type{type}, parse_value(Type{type}, a, {}), parse_value(Type{type}, b, {}));
}

bool equal_elements(Oid type, std::string_view a, std::string_view b) {
  if (a == b) return true;
  return !has_textual_equality(type) && compare_elements(type, a, b) == 0;
}

}  // namespace redquel::sql
