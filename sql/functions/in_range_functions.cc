// in_range(value, base, offset, subtract, less): what RANGE frames with an offset ask (range_distance.h), by name.

#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/range_distance.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

template <class Rule, class Offset>
ColumnPtr in_range(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const Rule rule = [&] {
      const Offset offset = arguments[2]->get<Offset>(row);
      if constexpr (std::is_same_v<Rule, TimestampRule>) {
        return Rule(offset, arguments[0]->type() == kTimestamptz ? &session_zone(*context.settings) : nullptr);
      } else {
        return Rule(offset);
      }
    }();
    column.append(rule.in_range(rule.read(*arguments[0], row), rule.read(*arguments[1], row), arguments[3]->get<bool>(row),
                                arguments[4]->get<bool>(row)));
  });
}

template <class Rule, class Offset>
ScalarFunction in_range_function(Type type, Type offset, Volatility volatility = Volatility::kImmutable) {
  return column_function("in_range", {type, type, offset, kBool, kBool}, kBool, in_range<Rule, Offset>, volatility, true);
}

}  // namespace

std::vector<ScalarFunction> in_range_functions() {
  using std::int16_t, std::int32_t, std::int64_t;
  return {
      in_range_function<IntegerRule<int16_t>, int16_t>(kInt2, kInt2),
      in_range_function<IntegerRule<int16_t>, int32_t>(kInt2, kInt4),
      in_range_function<IntegerRule<int16_t>, int64_t>(kInt2, kInt8),
      in_range_function<IntegerRule<int32_t>, int16_t>(kInt4, kInt2),
      in_range_function<IntegerRule<int32_t>, int32_t>(kInt4, kInt4),
      in_range_function<IntegerRule<int32_t>, int64_t>(kInt4, kInt8),
      in_range_function<IntegerRule<int64_t>, int64_t>(kInt8, kInt8),
      in_range_function<FloatRule<float>, double>(kFloat4, kFloat8),
      in_range_function<FloatRule<double>, double>(kFloat8, kFloat8),
      in_range_function<NumericRule, Numeric>(kNumeric, kNumeric),
      in_range_function<DateRule, Interval>(kDate, kInterval),
      in_range_function<TimestampRule, Interval>(kTimestamp, kInterval),
      in_range_function<TimestampRule, Interval>(kTimestamptz, kInterval, Volatility::kStable),
      in_range_function<TimeRule, Interval>(kTime, kInterval),
      in_range_function<ZonedTimeRule, Interval>(kTimetz, kInterval),
      in_range_function<IntervalRule, Interval>(kInterval, kInterval),
  };
}

}  // namespace redquel::sql
