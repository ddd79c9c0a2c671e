// TABLESAMPLE: whether a row belongs to a sample is told by a hash of what identifies it.

#include "sql/functions/table_sample.h"

#include <bit>
#include <cmath>
#include <functional>

#include "sql/error.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

/// Spreads the bits of a number over all of them.
std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

std::uint64_t bits_of(double number) { return std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number); }

float percentage(const Column& column, std::size_t row) {
  if (column.is_null(row)) throw SqlError(sqlstate::kInvalidTablesampleArgument, "TABLESAMPLE parameter cannot be null");
  const float value = std::get<float>(column.datum(row));
  if (value >= 0 && value <= 100) return value;
  throw SqlError(sqlstate::kInvalidTablesampleArgument, "sample percentage must be between 0 and 100");
}

template <bool repeatable>
ColumnPtr sample(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const Column &percentages = *arguments[0], &seeds = *arguments[1];
  const std::uint64_t moment = repeatable ? 0 : mixed(static_cast<std::uint64_t>(context.statement_timestamp));
  Column chosen(result);
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    const float percent = percentage(percentages, row);
    if (seeds.is_null(row)) throw SqlError(sqlstate::kInvalidTablesampleRepeat, "TABLESAMPLE REPEATABLE parameter cannot be null");
    std::uint64_t hash = mixed(moment ^ bits_of(std::get<double>(seeds.datum(row))));
    for (const ColumnPtr& part : arguments.subspan(2)) {
      text.clear();
      if (!part->is_null(row)) format_value(*part, row, *context.settings, text);
      hash = mixed(hash ^ std::hash<std::string>()(text));
    }
    chosen.append(std::ldexp(static_cast<double>(hash >> 11), -53) * 100 < percent);
  }
  return std::make_shared<const Column>(std::move(chosen));
}

}  // namespace

const ScalarFunction& table_sample(bool repeatable) {
  static const ScalarFunction once = column_function("table_sample", {kFloat4, kFloat8, kAny}, kBool, sample<false>, Volatility::kStable, false, true);
  static const ScalarFunction again = column_function("table_sample", {kFloat4, kFloat8, kAny}, kBool, sample<true>, Volatility::kStable, false, true);
  return repeatable ? again : once;
}

}  // namespace redquel::sql
