// ARRAY[…], subscripts and slices, read and assigned (manual 8.15, 4.2.3, 4.2.12).

#include "sql/functions/array_subscript.h"

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/repeated_array.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Int = std::int32_t;
using Bounds = std::vector<ArrayDimension>;

SqlError wrong_number_of_subscripts() { return wrong_subscript_count(); }

// ---- constructors ---------------------------------------------------------------------------------------------------

ColumnPtr construct(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  std::string text, array;
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    array.clear();
    for (const ColumnPtr& argument : arguments) append_array_element(element_at(*argument, row, text), array);
    finish_array_text(array);
    column.append(array);
  });
}

ColumnPtr construct_nested(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    ArrayValue whole;
    std::vector<ArrayValue> parts;  // the elements are views into them
    bool empty = false;
    for (const ColumnPtr& argument : arguments) {
      std::optional<ArrayValue> part = array_or_null(*argument, row);
      if (!part || part->elements.empty()) {
        empty = true;
        continue;
      }
      const bool first = parts.empty();
      if (first) check_array_depth(part->dimensions.size() + 1);
      if (!first && part->dimensions != parts[0].dimensions) {
        throw SqlError(sqlstate::kArraySubscriptError, "multidimensional arrays must have array expressions with matching dimensions");
      }
      whole.elements.insert(whole.elements.end(), part->elements.begin(), part->elements.end());
      parts.push_back(*std::move(part));
    }
    if (!parts.empty()) {
      if (empty) throw SqlError(sqlstate::kArraySubscriptError, "multidimensional arrays must have array expressions with matching dimensions");
      whole.dimensions = parts[0].dimensions;
      whole.dimensions.insert(whole.dimensions.begin(), {1, static_cast<Int>(parts.size())});
      check_array_size(whole.dimensions);
    }
    append_array_to(column, whole);
  });
}

// ---- reading --------------------------------------------------------------------------------------------------------

/// Returns the position of an element among all of them; nullopt if it is out of bounds.
std::optional<std::size_t> position_of(const Bounds& dimensions, std::span<const Int> subscripts) {
  std::size_t position = 0;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const std::int64_t at = std::int64_t{subscripts[i]} - dimensions[i].lower;
    if (at < 0 || at >= dimensions[i].length) return std::nullopt;
    position = position * static_cast<std::size_t>(dimensions[i].length) + static_cast<std::size_t>(at);
  }
  return position;
}

std::vector<Int> integers_at(Arguments arguments, std::size_t row) {
  std::vector<Int> values;
  for (const ColumnPtr& argument : arguments) values.push_back(argument->get<Int>(row));
  return values;
}

ColumnPtr subscript(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  RepeatedArray arrays(*arguments[0]);
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const ArrayValue& array = arrays.at(row);
    const std::vector<Int> subscripts = integers_at(arguments.subspan(1), row);
    std::optional<std::size_t> position;
    if (subscripts.size() == array.dimensions.size()) position = position_of(array.dimensions, subscripts);
    append_element(column, position ? array.elements[*position] : std::nullopt);
  });
}

/// The bounds of a slice as written; dimensions that are not written are taken whole.
Bounds slice_bounds(const ArrayValue& array, Int omitted, std::span<const Int> written) {
  Bounds bounds = array.dimensions;
  for (std::size_t i = 0; 2 * i + 1 < written.size() && i < bounds.size(); ++i) {
    const Int lower = (omitted >> (2 * i) & 1) != 0 ? bounds[i].lower : written[2 * i];
    const Int upper = (omitted >> (2 * i + 1) & 1) != 0 ? bounds[i].upper() : written[2 * i + 1];
    const std::int64_t length = std::clamp<std::int64_t>(std::int64_t{upper} - lower + 1, 0, kMaxArrayElements);
    bounds[i] = {lower, static_cast<Int>(length)};
  }
  return bounds;
}

/// Calls `use` with the position of every element within the bounds, in order.
template <class Use>
void for_each_position(const Bounds& dimensions, const Bounds& slice, const Use& use) {
  std::vector<Int> at;
  for (const ArrayDimension& dimension : slice) at.push_back(dimension.lower);
  while (true) {
    use(*position_of(dimensions, at));
    std::size_t level = at.size();
    while (level > 0 && at[level - 1] == slice[level - 1].upper()) {
      at[level - 1] = slice[level - 1].lower;
      --level;
    }
    if (level == 0) return;
    ++at[level - 1];
  }
}

ColumnPtr slice(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  RepeatedArray arrays(*arguments[0]);
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const ArrayValue& array = arrays.at(row);
    const std::vector<Int> written = integers_at(arguments.subspan(2), row);
    ArrayValue part;
    Bounds bounds = slice_bounds(array, arguments[1]->get<Int>(row), written);
    bool empty = bounds.empty() || written.size() / 2 > bounds.size();
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const Int lower = std::max(bounds[i].lower, array.dimensions[i].lower);
      const std::int64_t upper = std::min<std::int64_t>(std::int64_t{bounds[i].lower} + bounds[i].length - 1, array.dimensions[i].upper());
      empty = empty || upper < lower;
      bounds[i] = {lower, static_cast<Int>(upper - lower + 1)};
    }
    if (!empty) {
      for_each_position(array.dimensions, bounds, [&](std::size_t position) { part.elements.push_back(array.elements[position]); });
      for (ArrayDimension& dimension : bounds) dimension.lower = 1;
      part.dimensions = std::move(bounds);
    }
    append_array_to(column, part);
  });
}

// ---- assigning ------------------------------------------------------------------------------------------------------

/// Makes room in an array of one dimension, so that its bounds hold `bounds` too; what is new is NULL.
void extend(ArrayValue& array, const ArrayDimension& bounds) {
  const ArrayDimension before = array.dimensions[0];
  const Int lower = std::min(before.lower, bounds.lower);
  const std::int64_t upper = std::max<std::int64_t>(before.upper(), std::int64_t{bounds.lower} + bounds.length - 1);
  if (upper - lower >= kMaxArrayElements) {
    throw SqlError(sqlstate::kProgramLimitExceeded, "array size exceeds the maximum allowed (" + std::to_string(kMaxArrayElements) + ")");
  }
  array.dimensions[0] = {lower, static_cast<Int>(upper - lower + 1)};
  check_array_size(array.dimensions);
  array.elements.insert(array.elements.begin(), static_cast<std::size_t>(before.lower - lower), std::nullopt);
  array.elements.resize(static_cast<std::size_t>(array.dimensions[0].length));
}

void check_subscripts(Arguments subscripts, std::size_t row) {
  if (any_null(subscripts, row)) throw SqlError(sqlstate::kNullValueNotAllowed, "array subscript in assignment must not be null");
}

void set_element(ArrayValue& array, std::span<const Int> subscripts, std::optional<std::string_view> value) {
  if (array.dimensions.empty()) {
    for (const Int at : subscripts) array.dimensions.push_back({at, 1});
    check_array_size(array.dimensions);
    array.elements.push_back(value);
    return;
  }
  if (subscripts.size() != array.dimensions.size()) throw wrong_number_of_subscripts();
  if (subscripts.size() == 1) extend(array, {subscripts[0], 1});
  const std::optional<std::size_t> position = position_of(array.dimensions, subscripts);
  if (!position) throw subscript_out_of_range();
  array.elements[*position] = value;
}

ColumnPtr with_element(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Arguments subscripts = arguments.subspan(1, arguments.size() - 2);
  std::string text;
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    check_subscripts(subscripts, row);
    ArrayValue array = array_or_null(*arguments[0], row).value_or(ArrayValue{});
    set_element(array, integers_at(subscripts, row), element_at(*arguments.back(), row, text));
    append_array_to(column, array);
  });
}

void set_slice(ArrayValue& array, Int omitted, std::span<const Int> written, const ArrayValue& source) {
  const auto source_too_small = [] { return SqlError(sqlstate::kArraySubscriptError, "source array too small"); };
  const auto check_order = [](const ArrayDimension& bounds) {
    if (bounds.length < 1) throw SqlError(sqlstate::kArraySubscriptError, "upper bound cannot be less than lower bound");
  };
  const std::size_t count = written.size() / 2;
  if (array.dimensions.empty()) {
    if (omitted != 0) {
      throw SqlError(sqlstate::kArraySubscriptError, "array slice subscript must provide both boundaries")
          .detail("When assigning to a slice of an empty array value, slice boundaries must be fully specified.");
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t length = std::int64_t{written[2 * i + 1]} - written[2 * i] + 1;
      array.dimensions.push_back({written[2 * i], static_cast<Int>(std::clamp<std::int64_t>(length, 0, kMaxArrayElements + 1))});
      check_order(array.dimensions.back());
    }
    const auto wanted = static_cast<std::size_t>(check_array_size(array.dimensions));
    if (source.elements.size() < wanted) throw source_too_small();
    array.elements.assign(source.elements.begin(), source.elements.begin() + static_cast<std::ptrdiff_t>(wanted));
    return;
  }
  if (count > array.dimensions.size()) throw wrong_number_of_subscripts();
  const Bounds bounds = slice_bounds(array, omitted, written);
  std::ranges::for_each(bounds, check_order);
  if (array.dimensions.size() == 1) {
    extend(array, bounds[0]);
  } else {
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const bool inside = bounds[i].lower >= array.dimensions[i].lower && bounds[i].upper() <= array.dimensions[i].upper();
      if (!inside) throw subscript_out_of_range();
    }
  }
  if (source.elements.size() < static_cast<std::size_t>(check_array_size(bounds))) throw source_too_small();
  std::size_t next = 0;
  for_each_position(array.dimensions, bounds, [&](std::size_t position) { array.elements[position] = source.elements[next++]; });
}

ColumnPtr with_slice(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Arguments subscripts = arguments.subspan(2, arguments.size() - 3);
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    check_subscripts(subscripts, row);
    const std::optional<ArrayValue> source = array_or_null(*arguments.back(), row);
    std::optional<ArrayValue> array = array_or_null(*arguments[0], row);
    if (!source) {  // changes nothing
      append_element(column, arguments[0]->is_null(row) ? std::nullopt : std::optional(arguments[0]->get<std::string_view>(row)));
      return;
    }
    if (!array) array.emplace();
    set_slice(*array, arguments[1]->get<Int>(row), integers_at(subscripts, row), *source);
    append_array_to(column, *array);
  });
}

ScalarFunction unnamed(std::string_view shown, Oid result, Kernel kernel, bool strict) {
  ScalarFunction function;
  function.name = shown;
  function.arguments = {oid::kAny};
  function.result = result;
  function.kernel = kernel;
  function.strict = strict;
  function.variadic = true;
  return function;
}

}  // namespace

const ScalarFunction& array_constructor() {
  static const ScalarFunction function = unnamed("ARRAY", oid::kAnyArray, construct, false);
  return function;
}
const ScalarFunction& nested_array_constructor() {
  static const ScalarFunction function = unnamed("ARRAY", oid::kAnyArray, construct_nested, false);
  return function;
}
const ScalarFunction& array_subscript() {
  static const ScalarFunction function = unnamed("[]", oid::kAnyElement, subscript, true);
  return function;
}
const ScalarFunction& array_slice() {
  static const ScalarFunction function = unnamed("[:]", oid::kAnyArray, slice, true);
  return function;
}
const ScalarFunction& jsonb_subscript() {
  static const ScalarFunction function = *find_functions("jsonb_extract_path").front();
  return function;
}
bool is_subscript(const ScalarFunction& function) {
  return &function == &array_subscript() || &function == &array_slice() || &function == &jsonb_subscript();
}
const ScalarFunction& array_with_element() {
  static const ScalarFunction function = unnamed("[]=", oid::kAnyArray, with_element, false);
  return function;
}
const ScalarFunction& array_with_slice() {
  static const ScalarFunction function = unnamed("[:]=", oid::kAnyArray, with_slice, false);
  return function;
}

}  // namespace redquel::sql
