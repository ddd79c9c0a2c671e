// Functions over arrays (manual 9.19).

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"
#include "sql/types/structured_compare.h"
#include "sql/types/text_io.h"
#include "sql/value_errors.h"

namespace redquel::sql {

std::optional<std::string_view> element_at(const Column& column, std::size_t row, std::string& text) {
  if (column.is_null(row)) return std::nullopt;
  const Type type = column.type();
  if (is_kept_as_text(type.oid) && type.oid != oid::kBpchar) {
    return column.get<std::string_view>(row);
  }
  text.clear();
  format_value(column, row, {}, text);
  return text;
}

namespace {

// ---- joining --------------------------------------------------------------------------------------------------------

/// Returns true for the text of an array with elements, of one dimension counted from 1, well below the limit of elements.
bool is_plain_vector(std::string_view text) {
  return text.size() > 2 && text.size() < kMaxArrayElements && text[0] == '{' && text[1] != '{';
}

template <bool at_front>
ColumnPtr add_element(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Column &arrays = *arguments[at_front ? 1 : 0], &elements = *arguments[at_front ? 0 : 1];
  std::string text, longer;
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    if (!at_front && !arrays.is_null(row) && is_plain_vector(arrays.get<std::string_view>(row))) {
      longer = arrays.get<std::string_view>(row);
      longer.pop_back();
      append_array_element(element_at(elements, row, text), longer);
      finish_array_text(longer);
      column.append(longer);
      return;
    }
    ArrayValue array = array_or_null(arrays, row).value_or(ArrayValue{});
    if (array.dimensions.size() > 1) throw SqlError(sqlstate::kDataException, "argument must be empty or one-dimensional array");
    const Int lower = array.dimensions.empty() ? 1 : array.dimensions[0].lower;
    if (at_front ? lower == INT32_MIN : !array.dimensions.empty() && array.dimensions[0].upper() == INT32_MAX) {
      throw number_out_of_range("integer");
    }
    array.elements.insert(at_front ? array.elements.begin() : array.elements.end(), element_at(elements, row, text));
    array.make_vector(lower);
    check_array_size(array.dimensions);
    append_array_to(column, array);
  });
}

using Bounds = std::vector<ArrayDimension>;

/// The shape of a || b.
Bounds joined_bounds(const Bounds& a, const Bounds& b) {
  const auto incompatible = [](std::string detail) {
    return SqlError(sqlstate::kArraySubscriptError, "cannot concatenate incompatible arrays").detail(std::move(detail));
  };
  const auto tail_equal = [](const Bounds& x, std::size_t from_x, const Bounds& y, std::size_t from_y) {
    return std::equal(x.begin() + static_cast<std::ptrdiff_t>(from_x), x.end(), y.begin() + static_cast<std::ptrdiff_t>(from_y), y.end());
  };
  Bounds joined;
  if (a.size() == b.size()) {
    if (!tail_equal(a, 1, b, 1)) throw incompatible("Arrays with differing element dimensions are not compatible for concatenation.");
    joined = a;
    joined[0].length += b[0].length;
  } else if (a.size() + 1 == b.size()) {
    if (!tail_equal(a, 0, b, 1)) throw incompatible("Arrays with differing dimensions are not compatible for concatenation.");
    joined = b;
    ++joined[0].length;
  } else if (a.size() == b.size() + 1) {
    if (!tail_equal(a, 1, b, 0)) throw incompatible("Arrays with differing dimensions are not compatible for concatenation.");
    joined = a;
    ++joined[0].length;
  } else {
    throw incompatible(fmt::format("Arrays of {} and {} dimensions are not compatible for concatenation.", a.size(), b.size()));
  }
  check_array_size(joined);
  return joined;
}

ColumnPtr concatenate(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    std::optional<ArrayValue> a = array_or_null(*arguments[0], row), b = array_or_null(*arguments[1], row);
    if (!a && !b) return column.append_null();
    if (!a || (b && a->elements.empty())) return append_array_to(column, *b);
    if (b && !b->elements.empty()) {
      a->dimensions = joined_bounds(a->dimensions, b->dimensions);
      a->elements.insert(a->elements.end(), b->elements.begin(), b->elements.end());
    }
    append_array_to(column, *a);
  });
}

// ---- searching ------------------------------------------------------------------------------------------------------

/// Equality with one value that may be NULL; NULL equals NULL. 42883 where the type has no equality.
class ElementTest {
 public:
  explicit ElementTest(const Column& values) : values_(values), type_(values.type().oid) { equality_operator(Type{type_}); }
  void take(std::size_t row) { wanted_ = element_at(values_, row, text_); }
  bool operator()(const std::optional<Text>& element) const {
    return element && wanted_ ? equal_elements(type_, *element, *wanted_) : !element && !wanted_;
  }

 private:
  const Column& values_;
  Oid type_;
  std::string text_;
  std::optional<Text> wanted_;
};

ColumnPtr remove(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  ElementTest unwanted(*arguments[1]);
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    std::optional<ArrayValue> array = array_or_null(*arguments[0], row);
    if (!array) return column.append_null();
    if (array->dimensions.size() > 1) {
      throw SqlError(sqlstate::kFeatureNotSupported, "removing elements from multidimensional arrays is not supported");
    }
    unwanted.take(row);
    std::erase_if(array->elements, unwanted);
    if (!array->dimensions.empty()) array->make_vector(array->dimensions[0].lower);
    append_array_to(column, *array);
  });
}

ColumnPtr replace(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  ElementTest unwanted(*arguments[1]);
  std::string text;
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    std::optional<ArrayValue> array = array_or_null(*arguments[0], row);
    if (!array) return column.append_null();
    unwanted.take(row);
    std::ranges::replace_if(array->elements, unwanted, element_at(*arguments[2], row, text));
    append_array_to(column, *array);
  });
}

void check_searchable(const ArrayValue& array) {
  if (array.dimensions.size() > 1) {
    throw SqlError(sqlstate::kFeatureNotSupported, "searching for elements in multidimensional arrays is not supported");
  }
}

ColumnPtr position(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  ElementTest wanted(*arguments[1]);
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const std::optional<ArrayValue> array = array_or_null(*arguments[0], row);
    if (!array) return column.append_null();
    check_searchable(*array);
    if (array->dimensions.empty()) return column.append_null();
    std::int64_t skipped = 0;
    if (arguments.size() == 3) {
      if (arguments[2]->is_null(row)) throw SqlError(sqlstate::kNullValueNotAllowed, "initial position must not be null");
      skipped = std::int64_t{arguments[2]->get<Int>(row)} - array->dimensions[0].lower;
    }
    wanted.take(row);
    for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(skipped, 0)); i < array->elements.size(); ++i) {
      if (wanted(array->elements[i])) return column.append(static_cast<Int>(array->dimensions[0].lower + static_cast<Int>(i)));
    }
    column.append_null();
  });
}

ColumnPtr positions(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  ElementTest wanted(*arguments[1]);
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const std::optional<ArrayValue> array = array_or_null(*arguments[0], row);
    if (!array) return column.append_null();
    check_searchable(*array);
    wanted.take(row);
    std::string found;
    for (std::size_t i = 0; i < array->elements.size(); ++i) {
      if (wanted(array->elements[i])) append_array_element(std::to_string(array->dimensions[0].lower + static_cast<Int>(i)), found);
    }
    finish_array_text(found);
    column.append(found);
  });
}

/// width_bucket(operand, thresholds): how many thresholds are not above the operand.
ColumnPtr width_bucket(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Type type{arguments[0]->type().oid};
  ordering_operator(type, false);
  std::string text;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const ArrayValue array = array_at(*arguments[1], row);
    if (array.dimensions.size() > 1) throw SqlError(sqlstate::kArraySubscriptError, "thresholds must be one-dimensional array");
    if (std::ranges::any_of(array.elements, [](const auto& threshold) { return !threshold; })) {
      throw SqlError(sqlstate::kNullValueNotAllowed, "thresholds array must not contain NULLs");
    }
    const Text operand = *element_at(*arguments[0], row, text);
    const auto above = std::ranges::partition_point(
        array.elements, [&](const auto& threshold) { return compare_elements(type.oid, operand, *threshold) >= 0; });
    column.append(static_cast<Int>(above - array.elements.begin()));
  });
}

// ---- shape ----------------------------------------------------------------------------------------------------------

enum class Measure { kLength, kLower, kUpper };

template <Measure measure>
ColumnPtr measure_dimension(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const ArrayValue array = array_at(*arguments[0], row);
    const Int number = arguments[1]->get<Int>(row);
    if (number < 1 || static_cast<std::size_t>(number) > array.dimensions.size()) return column.append_null();
    const ArrayDimension& dimension = array.dimensions[static_cast<std::size_t>(number - 1)];
    column.append(measure == Measure::kLength ? dimension.length : measure == Measure::kLower ? dimension.lower : dimension.upper());
  });
}

ColumnPtr count_dimensions(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const std::size_t count = array_at(*arguments[0], row).dimensions.size();
    if (count == 0) return column.append_null();
    column.append(static_cast<Int>(count));
  });
}

ColumnPtr print_dimensions(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    std::string text;
    for (const ArrayDimension& d : array_at(*arguments[0], row).dimensions) text += fmt::format("[{}:{}]", d.lower, d.upper());
    if (text.empty()) return column.append_null();
    column.append(text);
  });
}

ColumnPtr cardinality(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(static_cast<Int>(array_at(*arguments[0], row).elements.size()));
  });
}

ColumnPtr trim(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    ArrayValue array = array_at(*arguments[0], row);
    const Int count = arguments[1]->get<Int>(row), length = array.dimensions.empty() ? 0 : array.dimensions[0].length;
    if (count < 0 || count > length) {
      throw SqlError(sqlstate::kArraySubscriptError, fmt::format("number of elements to trim must be between 0 and {}", length));
    }
    if (count == length) {
      array = {};
    } else {
      const std::size_t width = array.elements.size() / static_cast<std::size_t>(length);
      array.dimensions[0].length -= count;
      array.elements.resize(static_cast<std::size_t>(array.dimensions[0].length) * width);
      for (ArrayDimension& dimension : array.dimensions) dimension.lower = 1;  // as the slice that it is
    }
    append_array_to(column, array);
  });
}

/// The numbers of one of array_fill's arrays.
std::vector<Int> fill_numbers(const Column& column, std::size_t row) {
  if (column.is_null(row)) throw SqlError(sqlstate::kNullValueNotAllowed, "dimension array or low bound array cannot be null");
  const ArrayValue array = array_at(column, row);
  if (array.dimensions.size() > 1) {
    throw wrong_subscript_count().detail("Dimension array must be one dimensional.");
  }
  std::vector<Int> numbers;
  for (const auto& element : array.elements) {
    if (!element) throw SqlError(sqlstate::kNullValueNotAllowed, "dimension values cannot be null");
    numbers.push_back(std::get<Int>(parse_value(kInt4, *element, {})));
  }
  return numbers;
}

ColumnPtr fill(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  std::string text;
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      if (arguments[i]->is_null(row)) throw SqlError(sqlstate::kNullValueNotAllowed, "dimension array or low bound array cannot be null");
    }
    const std::vector<Int> lengths = fill_numbers(*arguments[1], row);
    std::vector<Int> lowers(lengths.size(), 1);
    check_array_depth(lengths.size());
    if (arguments.size() == 3) {
      lowers = fill_numbers(*arguments[2], row);
      if (lowers.size() != lengths.size()) {
        throw wrong_subscript_count().detail("Low bound array has different size than dimensions array.");
      }
    }
    ArrayValue array;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] < 0) {
        throw SqlError(sqlstate::kProgramLimitExceeded, fmt::format("array size exceeds the maximum allowed ({})", kMaxArrayElements));
      }
      array.dimensions.push_back({lowers[i], lengths[i]});
    }
    const std::int64_t count = check_array_size(array.dimensions);
    if (count == 0) array.dimensions.clear();
    const auto element = element_at(*arguments[0], row, text);
    check_text_size(static_cast<std::size_t>(count) * (element ? element->size() + 1 : 5));
    array.elements.assign(static_cast<std::size_t>(count), element);
    append_array_to(column, array);
  });
}

// ---- text -----------------------------------------------------------------------------------------------------------

ColumnPtr to_text(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const Type element{element_type_of(arguments[0]->type()).oid};
  const bool as_stored = output_is_storage_form(element, *context.settings);
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    if (arguments[0]->is_null(row) || arguments[1]->is_null(row)) return column.append_null();
    const Text delimiter = arguments[1]->get<Text>(row);
    std::optional<Text> for_null;
    if (arguments.size() == 3 && !arguments[2]->is_null(row)) for_null = arguments[2]->get<Text>(row);
    std::string out;
    bool first = true;
    for (const auto& item : array_at(*arguments[0], row).elements) {
      if (!item && !for_null) continue;
      if (!first) out += delimiter;
      first = false;
      if (!item) {
        out += *for_null;
      } else if (as_stored) {
        out += *item;
      } else {
        format_value(element, parse_value(element, *item, {}), *context.settings, out);
      }
    }
    column.append(out);
  });
}

}  // namespace

std::vector<std::optional<std::string>> split_text(Text text, std::optional<Text> delimiter, std::optional<Text> null_text) {
  std::vector<std::optional<std::string>> parts;
  const auto add = [&](Text part) {
    parts.push_back(null_text == part ? std::nullopt : std::optional(std::string(part)));
  };
  if (text.empty()) return parts;
  if (!delimiter) {
    for (std::size_t at = 0, size; at < text.size(); at += size) {
      size = character_size(text[at]);
      add(text.substr(at, size));
    }
  } else if (delimiter->empty()) {
    add(text);
  } else {
    std::size_t at = 0;
    for (std::size_t next; (next = text.find(*delimiter, at)) != Text::npos; at = next + delimiter->size()) {
      add(text.substr(at, next - at));
    }
    add(text.substr(at));
  }
  return parts;
}

namespace {

bool split_without_nulls(std::optional<Text> text, std::optional<Text> delimiter, std::string& out) {
  if (!text) return false;
  for (const auto& part : split_text(*text, delimiter, std::nullopt)) append_array_element(part, out);
  finish_array_text(out);
  return true;
}
bool split(std::optional<Text> text, std::optional<Text> delimiter, std::optional<Text> null_text, std::string& out) {
  if (!text) return false;
  for (const auto& part : split_text(*text, delimiter, null_text)) append_array_element(part, out);
  finish_array_text(out);
  return true;
}

}  // namespace

std::vector<ScalarFunction> array_functions() {
  constexpr auto kImmutable = Volatility::kImmutable, kStable = Volatility::kStable;
  constexpr Type array{oid::kAnyArray}, element{oid::kAnyElement};
  constexpr Type common_array{oid::kAnyCompatibleArray}, common{oid::kAnyCompatible};
  constexpr Type integers{oid::kInt4Array}, texts{oid::kTextArray};
  const auto row = [&](std::string_view name, std::initializer_list<Type> arguments, Type result, Kernel kernel, bool strict) {
    return column_function(name, arguments, result, kernel, kImmutable, strict);
  };
  std::vector<ScalarFunction> table = {
      row("||", {common_array, common}, common_array, add_element<false>, false),
      row("||", {common, common_array}, common_array, add_element<true>, false),
      row("||", {common_array, common_array}, common_array, concatenate, false),
      row("array_append", {common_array, common}, common_array, add_element<false>, false),
      row("array_prepend", {common, common_array}, common_array, add_element<true>, false),
      row("array_cat", {common_array, common_array}, common_array, concatenate, false),
      row("array_remove", {common_array, common}, common_array, remove, false),
      row("array_replace", {common_array, common, common}, common_array, replace, false),
      row("array_position", {common_array, common}, kInt4, position, false),
      row("array_position", {common_array, common, kInt4}, kInt4, position, false),
      row("array_positions", {common_array, common}, integers, positions, false),
      row("width_bucket", {common, common_array}, kInt4, width_bucket, true),
      row("array_length", {array, kInt4}, kInt4, measure_dimension<Measure::kLength>, true),
      row("array_lower", {array, kInt4}, kInt4, measure_dimension<Measure::kLower>, true),
      row("array_upper", {array, kInt4}, kInt4, measure_dimension<Measure::kUpper>, true),
      row("array_ndims", {array}, kInt4, count_dimensions, true),
      row("array_dims", {array}, kText, print_dimensions, true),
      row("cardinality", {array}, kInt4, cardinality, true),
      row("trim_array", {array, kInt4}, array, trim, true),
      row("array_fill", {element, integers}, array, fill, false),
      row("array_fill", {element, integers, integers}, array, fill, false),
      column_function("array_to_string", {array, kText}, kText, to_text, kStable, true),
      column_function("array_to_string", {array, kText, kText}, kText, to_text, kStable, false),
      scalar<split_without_nulls>("string_to_array", {kText, kText}, texts),
      scalar<split>("string_to_array", {kText, kText, kText}, texts),
  };
  const std::vector<ScalarFunction> operators = array_operators();
  table.insert(table.end(), operators.begin(), operators.end());
  return table;
}

}  // namespace redquel::sql
