// Changes of stored values for ALTER TYPE … RENAME VALUE and … ATTRIBUTE.

#include "sql/functions/changed_values.h"

#include <charconv>

#include "sql/functions/array_kernels.h"
#include "sql/functions/lift.h"
#include "sql/types/array_value.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"

namespace redquel::sql {
namespace {

using Text = std::string_view;

class ValueChange {
 public:
  ValueChange(Oid type, Text from, Text to) : type_(type), from_(from), to_(to) {
    if (!is_composite_type(type)) return;
    for (const auto& place : read_array(oid::kInt4Array, to).elements) {
      std::size_t number = 0;
      if (place) std::from_chars(place->data(), place->data() + place->size(), number);
      places_.push_back(place ? std::optional(number) : std::nullopt);
    }
  }

  std::string apply(Oid type, Text value) const {
    if (is_array_type(type)) return array(type, value);
    if (is_composite_type(type)) return row(type, value);
    if (is_range_type(type) || is_multirange_type(type)) return ranges(type, value);
    return std::string(type == type_ && value == from_ ? to_ : value);
  }

 private:
  std::optional<std::string> part(Oid type, const std::optional<Text>& value) const {
    return value ? std::optional(apply(type, *value)) : std::nullopt;
  }

  std::string array(Oid type, Text value) const {
    ArrayValue changed = read_array(type, value);
    const Oid element = type_info(type).element;
    const std::vector<std::optional<Text>> elements = std::move(changed.elements);
    changed.elements.clear();
    for (const auto& item : elements) {
      const std::optional<std::string> made = part(element, item);
      changed.add(made);
    }
    return array_text(type, changed);
  }

  std::string row(Oid type, Text value) const {
    const RowValue before = read_row(type, value);
    RowValue after;
    const auto add = [&](std::size_t place) {
      const std::optional<std::string> made = part(before.types[place].oid, before.fields[place]);
      after.add(before.types[place], made);
    };
    if (type != type_) {
      for (std::size_t i = 0; i < before.fields.size(); ++i) add(i);
    } else {
      for (const std::optional<std::size_t>& place : places_) {
        if (place) {
          add(*place);
        } else {
          after.add(kText, std::nullopt);
        }
      }
    }
    return row_text(type, after);
  }

  std::string ranges(Oid type, Text value) const {
    RangeSet set = read_ranges(type, value);
    for (RangeValue& range : set) {
      for (RangeBound* bound : {&range.lower, &range.upper}) {
        if (!bound->value || !std::holds_alternative<std::string>(*bound->value)) continue;
        const Oid subtype = range_subtype(is_multirange_type(type) ? range_in(type) : type).oid;
        bound->value = Datum(apply(subtype, std::get<std::string>(*bound->value)));
      }
    }
    return ranges_text(type, set);
  }

  Oid type_;
  Text from_, to_;
  std::vector<std::optional<std::size_t>> places_;
};

ColumnPtr change_values(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    if (arguments[0]->is_null(row)) return column.append_null();
    const ValueChange change(static_cast<Oid>(arguments[1]->get<std::int32_t>(row)), arguments[2]->get<Text>(row), arguments[3]->get<Text>(row));
    column.append(change.apply(result.oid, arguments[0]->get<Text>(row)));
  });
}

}  // namespace

const ScalarFunction& changed_value() {
  static const ScalarFunction function =
      column_function("changed_value", {Type{oid::kAnyElement}, kInt4, kText, kText}, Type{oid::kAnyElement}, change_values, Volatility::kStable, false);
  return function;
}

}  // namespace redquel::sql
