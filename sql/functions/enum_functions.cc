// Enums (manual 8.7, 9.10): order as declared, enum_first, enum_last, enum_range.

#include <fmt/format.h>

#include <functional>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/lift.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"
#include "sql/types/text_order.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

template <class Operator>
ColumnPtr compare_enums(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Oid type = arguments[0]->type().oid;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const int order = compare_text_form(type, arguments[0]->get<std::string_view>(row), arguments[1]->get<std::string_view>(row));
    column.append(Operator{}(order, 0));
  });
}

const std::vector<EnumLabel>& labels_of(Oid type) {
  const std::vector<EnumLabel>& labels = user_type(type).labels;
  if (labels.empty()) throw SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("enum {} contains no values", format_type(Type{type})));
  return labels;
}

template <bool last>
ColumnPtr end_of_enum(Arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const std::vector<EnumLabel>& labels = labels_of(result.oid);
  return std::make_shared<const Column>(Column::constant(result, (last ? labels.back() : labels.front()).name, rows));
}

/// enum_range(type) or enum_range(from, to), where NULL is the end of the enum.
ColumnPtr enum_range(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const std::vector<EnumLabel>& labels = user_type(element_type_of(result).oid).labels;
  const bool bounded = arguments.size() == 2;
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const auto bound = [&](std::size_t i) -> std::optional<std::string_view> {
      if (!bounded || arguments[i]->is_null(row)) return std::nullopt;
      return arguments[i]->get<std::string_view>(row);
    };
    const auto first = bound(0), last = bound(1);
    std::string text;
    bool inside = !first;
    for (const EnumLabel& label : labels) {
      inside = inside || label.name == *first;
      if (inside) append_array_element(label.name, text);
      if (last && label.name == *last) break;
    }
    finish_array_text(text);
    column.append(text);
  });
}

}  // namespace

std::vector<ScalarFunction> enum_functions() {
  constexpr auto kStable = Volatility::kStable;
  constexpr Type any{oid::kAnyEnum}, array{oid::kAnyArray};
  const auto comparison = [&](std::string_view name, Kernel kernel) {
    return column_function(name, {any, any}, kBool, kernel, Volatility::kImmutable, true);
  };
  return {
      comparison("=", compare_enums<std::equal_to<>>), comparison("<>", compare_enums<std::not_equal_to<>>),
      comparison("<", compare_enums<std::less<>>),     comparison("<=", compare_enums<std::less_equal<>>),
      comparison(">", compare_enums<std::greater<>>),  comparison(">=", compare_enums<std::greater_equal<>>),
      column_function("enum_first", {any}, any, end_of_enum<false>, kStable, false),
      column_function("enum_last", {any}, any, end_of_enum<true>, kStable, false),
      column_function("enum_range", {any}, array, enum_range, kStable, false),
      column_function("enum_range", {any, any}, array, enum_range, kStable, false),
  };
}

}  // namespace redquel::sql
