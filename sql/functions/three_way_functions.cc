// The functions behind the orders of types (pg_amproc's first of btree): btint4cmp(1, 2) is -1, the like of equal values 0.

#include <algorithm>
#include <functional>

#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/compare.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// Compares two values of one type.
ColumnPtr order_of_two(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const int order = compare(*arguments[0], row, *arguments[1], row);
    column.append(static_cast<std::int32_t>(order < 0 ? -1 : order > 0 ? 1 : 0));
  });
}

/// The row of an operator that compares exactly these types.
Kernel comparison_kernel(std::string_view name, Arguments arguments) {
  const std::vector<Oid> types = {arguments[0]->type().oid, arguments[1]->type().oid};
  for (const ScalarFunction* function : find_functions(name)) {
    if (function->arguments == types) return function->kernel;
  }
  return nullptr;
}

/// Compares values of two types with < and >.
ColumnPtr order_of_operators(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const ColumnPtr less = comparison_kernel("<", arguments)(arguments, rows, kBool, context);
  const ColumnPtr greater = comparison_kernel(">", arguments)(arguments, rows, kBool, context);
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(std::int32_t{greater->get<bool>(row)} - std::int32_t{less->get<bool>(row)});
  });
}

/// Returns the difference of the first bytes that differ; otherwise of the lengths.
std::int32_t distance_of_bytes(Text a, Text b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[i]);
  }
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}
std::int32_t distance_of_padded(Text a, Text b) { return distance_of_bytes(without_trailing_blanks(a), without_trailing_blanks(b)); }
std::int32_t distance_of_short(std::int16_t a, std::int16_t b) { return a - b; }

struct OrderFunction {
  std::string_view name;
  Oid left, right;
};
constexpr OrderFunction kOfTwoTypes[] = {
    {"btint24cmp", oid::kInt2, oid::kInt4},
    {"btint28cmp", oid::kInt2, oid::kInt8},
    {"btint42cmp", oid::kInt4, oid::kInt2},
    {"btint48cmp", oid::kInt4, oid::kInt8},
    {"btint82cmp", oid::kInt8, oid::kInt2},
    {"btint84cmp", oid::kInt8, oid::kInt4},
    {"btfloat48cmp", oid::kFloat4, oid::kFloat8},
    {"btfloat84cmp", oid::kFloat8, oid::kFloat4},
    {"date_cmp_timestamp", oid::kDate, oid::kTimestamp},
    {"timestamp_cmp_date", oid::kTimestamp, oid::kDate},
    {"date_cmp_timestamptz", oid::kDate, oid::kTimestamptz},
    {"timestamptz_cmp_date", oid::kTimestamptz, oid::kDate},
    {"timestamp_cmp_timestamptz", oid::kTimestamp, oid::kTimestamptz},
    {"timestamptz_cmp_timestamp", oid::kTimestamptz, oid::kTimestamp},
};

}  // namespace

std::vector<ScalarFunction> three_way_functions() {
  std::vector<ScalarFunction> table = {
      scalar<distance_of_short>("btint2cmp", {kInt2, kInt2}, kInt4),
      scalar<distance_of_bytes>("btcharcmp", {kChar, kChar}, kInt4),
      scalar<distance_of_bytes>("bttextcmp", {kText, kText}, kInt4),
      scalar<distance_of_bytes>("bttext_pattern_cmp", {kText, kText}, kInt4),
      scalar<distance_of_bytes>("btnamecmp", {kName, kName}, kInt4),
      scalar<distance_of_bytes>("btnametextcmp", {kName, kText}, kInt4),
      scalar<distance_of_bytes>("bttextnamecmp", {kText, kName}, kInt4),
      scalar<distance_of_bytes>("byteacmp", {kBytea, kBytea}, kInt4),
      scalar<distance_of_padded>("bpcharcmp", {kBpchar, kBpchar}, kInt4),
      scalar<distance_of_padded>("btbpchar_pattern_cmp", {kBpchar, kBpchar}, kInt4),
  };
  const auto add = [&](const OrderFunction& function, Kernel kernel, Volatility volatility) {
    table.push_back(column_function(function.name, {Type{function.left}, Type{function.right}}, kInt4, kernel, volatility, true));
  };
  for (const std::span<const TypeRow> family : type_families()) {
    for (const auto& [type, functions, order] : family) {
      if (!order.compare.empty()) add({order.compare, type.oid, type.oid}, order_of_two, Volatility::kImmutable);
    }
  }
  for (const OrderFunction& function : kOfTwoTypes) {
    const bool asks_zone = function.name.find("timestamptz") != std::string_view::npos;
    add(function, order_of_operators, asks_zone ? Volatility::kStable : Volatility::kImmutable);
  }
  return table;
}

}  // namespace redquel::sql
