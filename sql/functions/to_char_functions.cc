// to_char, to_number, to_date, to_timestamp (manual 9.8).

#include <cfloat>

#include "sql/functions/datetime_from_char.h"
#include "sql/functions/datetime_to_char.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/number_picture.h"

namespace redquel::sql {
namespace {

bool zoned_to_char(Context context, std::int64_t timestamp, Text picture, std::string& out) {
  return timestamptz_to_char(timestamp, picture, session_zone(*context.settings), out);
}
std::int64_t to_timestamp(Context context, Text text, Text picture) {
  return timestamptz_from_char(text, picture, session_zone(*context.settings));
}
std::optional<Numeric> to_number(Text text, Text picture) {
  bool is_null = false;
  Numeric number = numeric_from_char(text, picture, is_null);
  return is_null ? std::nullopt : std::optional(std::move(number));
}

}  // namespace

std::vector<ScalarFunction> to_char_functions() {
  constexpr auto stable = Volatility::kStable;
  return {
      scalar<timestamp_to_char>("to_char", {kTimestamp, kText}, kText, stable),
      scalar<zoned_to_char>("to_char", {kTimestamptz, kText}, kText, stable),
      scalar<interval_to_char>("to_char", {kInterval, kText}, kText, stable),
      scalar<[](std::int32_t value, Text picture, std::string& out) { integer_to_char(value, picture, false, out); }>(
          "to_char", {kInt4, kText}, kText, stable),
      scalar<[](std::int64_t value, Text picture, std::string& out) { integer_to_char(value, picture, true, out); }>(
          "to_char", {kInt8, kText}, kText, stable),
      scalar<[](float value, Text picture, std::string& out) { float_to_char(value, FLT_DIG, picture, out); }>(
          "to_char", {kFloat4, kText}, kText, stable),
      scalar<[](double value, Text picture, std::string& out) { float_to_char(value, DBL_DIG, picture, out); }>(
          "to_char", {kFloat8, kText}, kText, stable),
      scalar<numeric_to_char>("to_char", {kNumeric, kText}, kText, stable),
      scalar<to_number>("to_number", {kText, kText}, kNumeric, stable),
      scalar<to_timestamp>("to_timestamp", {kText, kText}, kTimestamptz, stable),
      scalar<date_from_char>("to_date", {kText, kText}, kDate, stable),
  };
}

}  // namespace redquel::sql
