// Arrays (manual 9.19): the functions and operators that catalogs and the programs that read them need, over arrays of every type.
//
// Each array type has its own rows, so that overload resolution sees plain types. Three names are not SQL's: "ARRAY" is the
// constructor, "[]" the subscript.

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/array_text.h"
#include "sql/types/compare.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

using Text = std::string_view;
using Int = std::int32_t;

const SessionSettings kStorageForm;

/// An element as a value of its type. The element is not NULL.
Datum value_of(Type element, const std::string& text) { return parse_value(element, text, kStorageForm); }
std::string text_of(const Column& column, std::size_t row) {
  std::string text;
  format_value(column, row, kStorageForm, text);
  return text;
}

// ---- kernels over columns -------------------------------------------------------------------------------------------

Column text_results(Type result, std::size_t rows) {
  Column column(result);
  column.reserve(rows);
  return column;
}

/// ARRAY[a, b, …]
ColumnPtr construct(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  Column arrays = text_results(result, rows);
  for (std::size_t row = 0; row < rows; ++row) {
    std::string text;
    for (const ColumnPtr& argument : arguments) {
      if (argument->is_null(row)) {
        append_array_element(std::nullopt, text);
      } else {
        append_array_element(text_of(*argument, row), text);
      }
    }
    finish_array_text(text);
    arrays.append(text);
  }
  return std::make_shared<const Column>(std::move(arrays));
}

/// array[i]: NULL outside.
ColumnPtr subscript(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Oid array = arguments[0]->type().oid;
  const Int first = array == oid::kInt2Vector || array == oid::kOidVector ? 0 : 1;
  Column values(Type{result.oid});
  for (std::size_t row = 0; row < rows; ++row) {
    if (arguments[0]->is_null(row) || arguments[1]->is_null(row)) {
      values.append_null();
      continue;
    }
    const ArrayElements elements = array_elements(array, arguments[0]->get<Text>(row));
    const std::int64_t at = std::int64_t{arguments[1]->get<Int>(row)} - first;
    if (at < 0 || at >= static_cast<std::int64_t>(elements.size()) || !elements[static_cast<std::size_t>(at)]) {
      values.append_null();
    } else {
      append_parsed(values, *elements[static_cast<std::size_t>(at)], kStorageForm);
    }
  }
  return std::make_shared<const Column>(std::move(values));
}

/// array || element, element || array: a NULL array is none, a NULL element is one.
template <bool at_front>
ColumnPtr add_element(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Column& array = *arguments[at_front ? 1 : 0];
  const Column& element = *arguments[at_front ? 0 : 1];
  Column arrays = text_results(result, rows);
  for (std::size_t row = 0; row < rows; ++row) {
    ArrayElements elements;
    if (!array.is_null(row)) elements = array_elements(result.oid, array.get<Text>(row));
    std::optional<std::string> added;
    if (!element.is_null(row)) added = text_of(element, row);
    elements.insert(at_front ? elements.begin() : elements.end(), std::move(added));
    arrays.append(array_text(elements));
  }
  return std::make_shared<const Column>(std::move(arrays));
}

/// array_remove(array, element), array_position(array, element): equality of the elements' type; NULL equals NULL.
bool same_element(Type element, const std::optional<std::string>& text, const std::optional<Datum>& wanted) {
  if (!text || !wanted) return !text && !wanted;
  return equal(element, value_of(element, *text), *wanted);
}
std::optional<Datum> element_argument(const Column& column, std::size_t row) {
  return column.is_null(row) ? std::nullopt : std::optional(column.datum(row));
}

ColumnPtr remove(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  Column arrays = text_results(result, rows);
  const Type element{arguments[1]->type().oid};
  for (std::size_t row = 0; row < rows; ++row) {
    if (arguments[0]->is_null(row)) {
      arrays.append_null();
      continue;
    }
    const std::optional<Datum> unwanted = element_argument(*arguments[1], row);
    ArrayElements elements = array_elements(result.oid, arguments[0]->get<Text>(row));
    std::erase_if(elements, [&](const auto& text) { return same_element(element, text, unwanted); });
    arrays.append(array_text(elements));
  }
  return std::make_shared<const Column>(std::move(arrays));
}

ColumnPtr position(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  Column positions(result);
  const Type element{arguments[1]->type().oid};
  for (std::size_t row = 0; row < rows; ++row) {
    if (arguments[0]->is_null(row)) {
      positions.append_null();
      continue;
    }
    const std::optional<Datum> wanted = element_argument(*arguments[1], row);
    const ArrayElements elements = array_elements(arguments[0]->type().oid, arguments[0]->get<Text>(row));
    const auto found = std::ranges::find_if(elements, [&](const auto& text) { return same_element(element, text, wanted); });
    if (found == elements.end()) {
      positions.append_null();
    } else {
      positions.append(static_cast<Int>(found - elements.begin() + 1));
    }
  }
  return std::make_shared<const Column>(std::move(positions));
}

// ---- functions over text forms --------------------------------------------------------------------------------------

ArrayElements elements_of(Text array) { return array_elements(oid::kTextArray, array); }

/// Text forms are canonical: equal arrays print alike, except for numbers of different scale and zeros with a sign.
template <Oid element>
bool same_arrays(Text a, Text b) {
  if (a == b) return true;
  if constexpr (element != oid::kNumeric && element != oid::kFloat4 && element != oid::kFloat8 && element != oid::kBpchar) return false;
  const ArrayElements left = elements_of(a), right = elements_of(b);
  return std::ranges::equal(left, right, [](const auto& x, const auto& y) {
    return x && y ? equal(Type{element}, value_of(Type{element}, *x), value_of(Type{element}, *y)) : !x && !y;
  });
}

bool concatenate(std::optional<Text> a, std::optional<Text> b, std::string& out) {
  if (!a && !b) return false;
  if (!a || !b) {
    out = a ? *a : *b;
    return true;
  }
  ArrayElements elements = elements_of(*a);
  for (auto& element : elements_of(*b)) elements.push_back(std::move(element));
  out = array_text(elements);
  return true;
}

void join(Text array, Text delimiter, std::optional<Text> null_text, std::string& out) {
  bool first = true;
  for (const auto& element : elements_of(array)) {
    if (!element && !null_text) continue;
    if (!first) out += delimiter;
    first = false;
    out += element ? Text(*element) : *null_text;
  }
}
bool join_with_nulls(std::optional<Text> array, std::optional<Text> delimiter, std::optional<Text> null_text, std::string& out) {
  if (!array || !delimiter) return false;
  join(*array, *delimiter, null_text, out);
  return true;
}

Int count(Text array) { return static_cast<Int>(elements_of(array).size()); }
std::optional<Int> length(Text array, Int dimension) {
  const Int elements = count(array);
  return dimension == 1 && elements > 0 ? std::optional(elements) : std::nullopt;
}
std::optional<Int> lower_bound(Text array, Int dimension) {
  return dimension == 1 && count(array) > 0 ? std::optional(1) : std::nullopt;
}
std::optional<Int> dimensions(Text array) { return count(array) > 0 ? std::optional(1) : std::nullopt; }

/// string_to_array(): a NULL delimiter cuts between all characters, an empty one not at all.
bool split(std::optional<Text> text, std::optional<Text> delimiter, std::optional<Text> null_text, std::string& out) {
  if (!text) return false;
  const auto add = [&](Text part) { append_array_element(null_text == part ? std::nullopt : std::optional(part), out); };
  if (text->empty()) {
    // an array without elements
  } else if (!delimiter) {
    for (std::size_t at = 0; at < text->size();) {
      std::size_t end = at + 1;
      while (end < text->size() && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) ++end;
      add(text->substr(at, end - at));
      at = end;
    }
  } else if (delimiter->empty()) {
    add(*text);
  } else {
    std::size_t at = 0;
    for (std::size_t next; (next = text->find(*delimiter, at)) != Text::npos; at = next + delimiter->size()) {
      add(text->substr(at, next - at));
    }
    add(text->substr(at));
  }
  finish_array_text(out);
  return true;
}

void braces_from_vector(Text vector, std::string& out) { out = array_text(array_elements(oid::kInt2Vector, vector)); }

// ---- sets and aggregates --------------------------------------------------------------------------------------------

/// unnest(): the elements as rows.
class Elements final : public RowSource {
 public:
  Elements(Type element, ArrayElements elements) : element_(element), elements_(std::move(elements)) {}

  Batch next(std::size_t limit) override {
    Column column(element_);
    for (; next_ < elements_.size() && column.size() < limit; ++next_) {
      if (elements_[next_]) {
        append_parsed(column, *elements_[next_], kStorageForm);
      } else {
        column.append_null();
      }
    }
    Batch batch;
    batch.rows = column.size();
    batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
    return batch;
  }

 private:
  Type element_;
  ArrayElements elements_;
  std::size_t next_ = 0;
};

template <Oid element>
std::unique_ptr<RowSource> unnest(std::span<const Datum> arguments, const EvaluationContext&) {
  ArrayElements elements;
  if (!is_null(arguments[0])) elements = elements_of(std::get<std::string>(arguments[0]));
  return std::make_unique<Elements>(Type{element}, std::move(elements));
}

/// generate_subscripts(array, dimension)
std::unique_ptr<RowSource> subscripts(std::span<const Datum> arguments, const EvaluationContext&) {
  ArrayElements numbers;
  const bool rows = !is_null(arguments[0]) && !is_null(arguments[1]) && std::get<Int>(arguments[1]) == 1;
  const Int last = rows ? count(std::get<std::string>(arguments[0])) : 0;
  for (Int number = 1; number <= last; ++number) numbers.emplace_back(std::to_string(number));
  return std::make_unique<Elements>(kInt4, std::move(numbers));
}

/// array_agg(): NULLs are elements, too; no row gives NULL.
class ArrayCollector final : public Aggregator {
 public:
  explicit ArrayCollector(Type result) : result_(result) {}

  void update(std::span<const ColumnPtr> arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
              const EvaluationContext&) override {
    texts_.resize(group_count);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      std::string& text = texts_[groups[row]];
      const std::size_t before = text.size();
      if (arguments[0]->is_null(row)) {
        append_array_element(std::nullopt, text);
      } else {
        append_array_element(text_of(*arguments[0], row), text);
      }
      bytes_ += text.size() - before;
    }
  }

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    texts_.resize(group_count);
    Column column(result_);
    column.reserve(group_count);
    for (std::string& text : texts_) {
      if (text.empty()) {
        column.append_null();
      } else {
        finish_array_text(text);
        column.append(text);
      }
    }
    return std::make_shared<const Column>(std::move(column));
  }

  std::size_t memory() const override { return bytes_ + texts_.capacity() * sizeof(std::string); }

 private:
  Type result_;
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
};

std::unique_ptr<Aggregator> make_collector(std::span<const Type>, Type result) { return std::make_unique<ArrayCollector>(result); }

// ---- the rows -------------------------------------------------------------------------------------------------------

/// Calls `add` with every element type that has an array type, as a compile-time constant.
template <class Add>
void for_each_element(const Add& add) {
  const auto all = [&]<Oid... elements>(std::integer_sequence<Oid, elements...>) {
    (add(std::integral_constant<Oid, elements>{}), ...);
  };
  all(std::integer_sequence<Oid, oid::kBool, oid::kBytea, oid::kChar, oid::kName, oid::kInt2, oid::kInt4, oid::kInt8, oid::kText,
                            oid::kOid, oid::kFloat4, oid::kFloat8, oid::kBpchar, oid::kVarchar, oid::kDate, oid::kTime,
                            oid::kTimestamp, oid::kTimestamptz, oid::kInterval, oid::kNumeric, oid::kUuid>{});
}

template <Oid element>
void add_functions(std::vector<ScalarFunction>& table) {
  constexpr auto kImmutable = Volatility::kImmutable;
  const Type item{element}, array{type_info(element).array};
  table.push_back(column_function("ARRAY", {item}, array, construct, kImmutable, false, true));
  table.push_back(column_function("[]", {array, kInt4}, item, subscript, kImmutable, true));
  table.push_back(scalar<same_arrays<element>>("=", {array, array}, kBool));
  table.push_back(scalar<[](Text a, Text b) { return !same_arrays<element>(a, b); }>("<>", {array, array}, kBool));
  table.push_back(scalar<concatenate>("||", {array, array}, array));
  table.push_back(scalar<concatenate>("array_cat", {array, array}, array));
  for (const std::string_view name : {"||", "array_append"}) {
    table.push_back(column_function(name, {array, item}, array, add_element<false>, kImmutable, false));
  }
  for (const std::string_view name : {"||", "array_prepend"}) {
    table.push_back(column_function(name, {item, array}, array, add_element<true>, kImmutable, false));
  }
  table.push_back(column_function("array_remove", {array, item}, array, remove, kImmutable, false));
  table.push_back(column_function("array_position", {array, item}, kInt4, position, kImmutable, false));
  table.push_back(scalar<[](Text a, Text delimiter, std::string& out) { join(a, delimiter, std::nullopt, out); }>(
      "array_to_string", {array, kText}, kText));
  table.push_back(scalar<join_with_nulls>("array_to_string", {array, kText, kText}, kText));
  table.push_back(scalar<length>("array_length", {array, kInt4}, kInt4));
  table.push_back(scalar<length>("array_upper", {array, kInt4}, kInt4));
  table.push_back(scalar<lower_bound>("array_lower", {array, kInt4}, kInt4));
  table.push_back(scalar<dimensions>("array_ndims", {array}, kInt4));
  table.push_back(scalar<count>("cardinality", {array}, kInt4));
}

}  // namespace

std::vector<ScalarFunction> array_functions() {
  std::vector<ScalarFunction> table = {
      column_function("[]", {Type{oid::kInt2Vector}, kInt4}, kInt2, subscript, Volatility::kImmutable, true),
      column_function("[]", {Type{oid::kOidVector}, kInt4}, kOidType, subscript, Volatility::kImmutable, true),
      scalar<[](std::optional<Text> text, std::optional<Text> delimiter, std::string& out) {
        return split(text, delimiter, std::nullopt, out);
      }>("string_to_array", {kText, kText}, Type{oid::kTextArray}),
      scalar<split>("string_to_array", {kText, kText, kText}, Type{oid::kTextArray}),
  };
  for_each_element([&](auto element) { add_functions<element>(table); });
  return table;
}

std::vector<CastFunction> array_casts() {
  return {
      cast<braces_from_vector>(Type{oid::kInt2Vector}, Type{oid::kInt2Array}, CastContext::kImplicit),
      cast<braces_from_vector>(Type{oid::kOidVector}, Type{oid::kOidArray}, CastContext::kImplicit),
  };
}

std::vector<AggregateFunction> array_aggregates() {
  std::vector<AggregateFunction> table;
  for_each_element([&](auto element) { table.push_back({"array_agg", {element}, type_info(element).array, make_collector}); });
  return table;
}

std::vector<TableFunction> array_table_functions() {
  std::vector<TableFunction> table;
  for_each_element([&](auto element) {
    const Oid array = type_info(element).array;
    table.push_back({"unnest", {array}, {{"unnest", element}}, unnest<element>});
    table.push_back({"generate_subscripts", {array, oid::kInt4}, {{"generate_subscripts", oid::kInt4}}, subscripts});
  });
  return table;
}

}  // namespace redquel::sql
