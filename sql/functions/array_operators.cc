// Comparison and containment of arrays; what arrays and other structured types share: = <> < <= > >= by the order of their type.

#include <functional>
#include <vector>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/repeated_array.h"
#include "sql/functions/resolve.h"
#include "sql/types/compare.h"
#include "sql/types/structured_compare.h"
#include "sql/types/text_order.h"

namespace redquel::sql {
namespace {

/// A result per row of two arguments that are not NULL.
template <class Test>
ColumnPtr test_rows(Arguments arguments, std::size_t rows, Type result, const Test& test) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(test(arguments[0]->get<Text>(row), arguments[1]->get<Text>(row)));
  });
}

/// 42883 where the elements have no such operator.
void check_elements(const Column& array, bool ordered) {
  const Type element = element_type_of(array.type());
  if (element.oid == oid::kRecord) return;
  if (ordered) {
    ordering_operator(Type{element.oid}, false);
  } else {
    equality_operator(Type{element.oid});
  }
}

template <class Operator, bool is_equality>
ColumnPtr compare_arrays(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Oid type = arguments[0]->type().oid;
  check_elements(*arguments[0], !is_equality);
  const bool textual = is_equality && has_textual_equality(type);
  return test_rows(arguments, rows, result, [&](Text a, Text b) {
    if (textual) return Operator{}(a, b);
    return Operator{}(compare_text_form(type, a, b), 0);
  });
}

/// Returns true if every element of `part` is in `whole`; NULLs never match.
bool contains(const ArrayValue& whole, const ArrayValue& part, Oid element) {
  return std::ranges::all_of(part.elements, [&](const auto& wanted) {
    return wanted && std::ranges::any_of(whole.elements, [&](const auto& item) { return item && equal_elements(element, *item, *wanted); });
  });
}
bool overlaps(const ArrayValue& a, const ArrayValue& b, Oid element) {
  return std::ranges::any_of(a.elements, [&](const auto& wanted) {
    return wanted && std::ranges::any_of(b.elements, [&](const auto& item) { return item && equal_elements(element, *item, *wanted); });
  });
}

template <auto relation, bool reversed = false>
ColumnPtr relate_arrays(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Oid element = element_type_of(arguments[0]->type()).oid;
  check_elements(*arguments[0], false);
  RepeatedArray left(*arguments[reversed ? 1 : 0]), right(*arguments[reversed ? 0 : 1]);
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(relation(left.at(row), right.at(row), element));
  });
}

}  // namespace

std::vector<ScalarFunction> array_operators() {
  constexpr auto kImmutable = Volatility::kImmutable;
  constexpr Type array{oid::kAnyArray};
  const auto row = [&](std::string_view name, Kernel kernel) {
    return column_function(name, {array, array}, kBool, kernel, kImmutable, true);
  };
  std::vector<ScalarFunction> table = {
      row("=", compare_arrays<std::equal_to<>, true>),       row("<>", compare_arrays<std::not_equal_to<>, true>),
      row("<", compare_arrays<std::less<>, false>),          row("<=", compare_arrays<std::less_equal<>, false>),
      row(">", compare_arrays<std::greater<>, false>),       row(">=", compare_arrays<std::greater_equal<>, false>),
      row("@>", relate_arrays<contains>),                    row("<@", relate_arrays<contains, true>),
      row("&&", relate_arrays<overlaps>),
  };
  for (std::size_t i = 0; i < 6; ++i) {  // the comparisons have rows for oidvector, too
    table.push_back(table[i]);
    table.back().arguments = {oid::kOidVector, oid::kOidVector};
  }
  return table;
}

}  // namespace redquel::sql
