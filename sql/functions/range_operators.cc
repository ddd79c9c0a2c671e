// Operators of ranges and multiranges (manual 9.20): comparison, containment, position, set algebra.

#include <functional>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/lift.h"
#include "sql/functions/range_functions.h"
#include "sql/sqlstate.h"
#include "sql/types/range_value.h"
#include "sql/types/text_order.h"

namespace redquel::sql {
namespace {

Type subtype_of(Oid type) { return range_subtype(is_multirange_type(type) ? range_in(type) : type); }
RangeSet ranges_at(const Column& column, std::size_t row) { return read_ranges(column.type().oid, column.get<Text>(row)); }

template <class Operator>
ColumnPtr compare_values(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Oid type = arguments[0]->type().oid;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(Operator{}(compare_text_form(type, arguments[0]->get<Text>(row), arguments[1]->get<Text>(row)), 0));
  });
}

// ---- relations of two sets -------------------------------------------------------------------------------------------

bool covers(Type subtype, const RangeValue& a, const RangeValue& b) {
  return compare_bounds(subtype, a.lower, Side::kLower, b.lower, Side::kLower) <= 0 &&
         compare_bounds(subtype, a.upper, Side::kUpper, b.upper, Side::kUpper) >= 0;
}
bool contains(Type subtype, const RangeSet& a, const RangeSet& b) {
  return std::ranges::all_of(b, [&](const RangeValue& part) {
    return std::ranges::any_of(a, [&](const RangeValue& whole) { return covers(subtype, whole, part); });
  });
}
bool overlaps(Type subtype, const RangeSet& a, const RangeSet& b) { return !intersection(subtype, a, b).empty(); }
bool is_before(Type subtype, const RangeSet& a, const RangeSet& b) {
  return !a.empty() && !b.empty() && compare_bounds(subtype, a.back().upper, Side::kUpper, b.front().lower, Side::kLower) < 0;
}
bool ends_within(Type subtype, const RangeSet& a, const RangeSet& b) {
  return !a.empty() && !b.empty() && compare_bounds(subtype, a.back().upper, Side::kUpper, b.back().upper, Side::kUpper) <= 0;
}
bool begins_within(Type subtype, const RangeSet& a, const RangeSet& b) {
  return !a.empty() && !b.empty() && compare_bounds(subtype, a.front().lower, Side::kLower, b.front().lower, Side::kLower) >= 0;
}
bool is_adjacent(Type subtype, const RangeSet& a, const RangeSet& b) {
  return !a.empty() && !b.empty() && (touches(subtype, a.back(), b.front()) || touches(subtype, b.back(), a.front()));
}

template <auto relation, bool reversed = false>
ColumnPtr relate(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Column &a = *arguments[reversed ? 1 : 0], &b = *arguments[reversed ? 0 : 1];
  const Type subtype = subtype_of(a.type().oid);
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(relation(subtype, ranges_at(a, row), ranges_at(b, row)));
  });
}

/// range @> element; reversed: element <@ range.
template <bool reversed>
ColumnPtr contains_element(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Column &set = *arguments[reversed ? 1 : 0], &elements = *arguments[reversed ? 0 : 1];
  const Type subtype = subtype_of(set.type().oid);
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const RangeBound point{elements.datum(row), true};
    column.append(contains(subtype, ranges_at(set, row), {{false, point, point}}));
  });
}

// ---- set algebra ------------------------------------------------------------------------------------------------------

RangeSet united(Type subtype, const RangeSet& a, const RangeSet& b) {
  RangeSet all = a;
  all.insert(all.end(), b.begin(), b.end());
  return normalize(subtype, std::move(all));
}

template <auto combine>
ColumnPtr combine_sets(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Type subtype = subtype_of(result.oid);
  const bool one = is_range_type(result.oid);
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const RangeSet set = combine(subtype, ranges_at(*arguments[0], row), ranges_at(*arguments[1], row));
    if (one && set.size() > 1) {
      constexpr bool is_union = combine == united;
      throw SqlError(sqlstate::kDataException,
                     is_union ? "result of range union would not be contiguous" : "result of range difference would not be contiguous");
    }
    column.append(ranges_text(result.oid, set));
  });
}

}  // namespace

std::vector<ScalarFunction> range_operators() {
  constexpr Type range{oid::kAnyRange}, multirange{oid::kAnyMultirange}, element{oid::kAnyElement};
  std::vector<ScalarFunction> table;
  const auto add = [&](std::string_view name, Type left, Type right, Type result, Kernel kernel) {
    table.push_back(column_function(name, {left, right}, result, kernel, Volatility::kImmutable, true));
  };
  for (const Type type : {range, multirange}) {
    add("=", type, type, kBool, compare_values<std::equal_to<>>);
    add("<>", type, type, kBool, compare_values<std::not_equal_to<>>);
    add("<", type, type, kBool, compare_values<std::less<>>);
    add("<=", type, type, kBool, compare_values<std::less_equal<>>);
    add(">", type, type, kBool, compare_values<std::greater<>>);
    add(">=", type, type, kBool, compare_values<std::greater_equal<>>);
    add("@>", type, element, kBool, contains_element<false>);
    add("<@", element, type, kBool, contains_element<true>);
    add("+", type, type, type, combine_sets<united>);
    add("*", type, type, type, combine_sets<intersection>);
    add("-", type, type, type, combine_sets<difference>);
    for (const Type other : {range, multirange}) {
      add("@>", type, other, kBool, relate<contains>);
      add("<@", type, other, kBool, relate<contains, true>);
      add("&&", type, other, kBool, relate<overlaps>);
      add("<<", type, other, kBool, relate<is_before>);
      add(">>", type, other, kBool, relate<is_before, true>);
      add("&<", type, other, kBool, relate<ends_within>);
      add("&>", type, other, kBool, relate<begins_within>);
      add("-|-", type, other, kBool, relate<is_adjacent>);
    }
  }
  return table;
}

}  // namespace redquel::sql
