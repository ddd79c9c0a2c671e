#include "sql/types/index_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>

#include "sql/types/big_integer.h"
#include "sql/types/byte_text.h"
#include "sql/types/compare.h"
#include "sql/types/datetime.h"
#include "sql/types/jsonb.h"
#include "sql/types/server_numbers.h"
#include "sql/types/structured_compare.h"
#include "sql/types/structured_index.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// Intervals of one length get one spelling: days and months folded up as far as they go.
Interval fold(const Interval& interval) {
  const Int128 total = folded_microseconds(interval);
  const auto days = static_cast<std::int64_t>(total / kMicrosecondsPerDay);
  Interval folded;
  const auto take = [](std::int64_t amount) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(amount, std::numeric_limits<std::int32_t>::min(),
                                                              std::numeric_limits<std::int32_t>::max()));
  };
  folded.months = take(days / 30);
  folded.days = take(days - folded.months * std::int64_t{30});
  folded.microseconds =
      static_cast<std::int64_t>(total - (folded.days + folded.months * Int128{30}) * kMicrosecondsPerDay);
  return folded;
}

// Order of numerics as bytes: a letter for the class, then the decimal exponent in six digits, then the digits.
// Negative numbers have both complemented and end in '~', so that more digits make them smaller.
constexpr char kNegativeInfinityClass = 'A', kNegativeClass = 'B', kZeroClass = 'C', kPositiveClass = 'D',
               kInfinityClass = 'E', kNanClass = 'F';
constexpr int kExponentBias = 20'000;

std::string ordered_numeric(const Numeric& value) {
  if (value.is_nan()) return {kNanClass};
  if (value.is_infinite()) return {value.sign() > 0 ? kInfinityClass : kNegativeInfinityClass};
  if (value.is_zero()) return {kZeroClass};
  const bool negative = value.sign() < 0;
  std::string digits = decimal_text(value.abs().unscaled().value);
  const int exponent = static_cast<int>(digits.size()) - value.scale();  // value = 0.digits × 10^exponent
  digits.resize(digits.find_last_not_of('0') + 1);
  std::string result(1, negative ? kNegativeClass : kPositiveClass);
  if (negative) {
    result += fmt::format("{:06}", 999'999 - (exponent + kExponentBias));
    for (char& digit : digits) digit = static_cast<char>('0' + '9' - digit);
    result += digits;
    result.push_back('~');
  } else {
    result += fmt::format("{:06}", exponent + kExponentBias);
    result += digits;
  }
  return result;
}

std::string ordered_bytea(std::string_view bytes) {
  std::string result;
  for (const char byte : bytes) {
    const std::size_t size = byte == '\0' ? 2 : 1;
    if (result.size() + size > kMaxOrderedPrefix) break;  // never half of an escaped zero
    result.push_back(byte);
    if (byte == '\0') result.push_back('\xFF');
  }
  return result;
}

/// All digits always, so that times compare as text.
std::string ordered_time(std::int64_t time) {
  return fmt::format("{:02}:{:02}:{:02}.{:06}", time / kMicrosecondsPerHour, time / kMicrosecondsPerMinute % 60,
                     time / kMicrosecondsPerSecond % 60, time % kMicrosecondsPerSecond);
}

double score_of_infinity(bool positive) {
  return positive ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

}  // namespace

std::string canonical_text(Type type, const Datum& value) {
  assert(!is_null(value));
  switch (type.oid) {
    case oid::kNumeric:
      return std::get<Numeric>(value).trimmed().to_string();
    case oid::kFloat4:
      if (std::get<float>(value) == 0) return "0";
      break;
    case oid::kFloat8:
      if (std::get<double>(value) == 0) return "0";
      break;
    case oid::kBpchar:
      return std::string(without_trailing_blanks(std::get<std::string>(value)));
    case oid::kJsonb:
      return jsonb_key(std::get<std::string>(value));
    case oid::kInterval:
      return format_value(type, fold(std::get<Interval>(value)));
    default:
      if (is_structured(type.oid)) return canonical_structured_text(type.oid, std::get<std::string>(value));
      break;
  }
  return format_value(type, value);
}

bool canonical_text_is_output(Type type) {
  switch (type.oid) {
    case oid::kNumeric:
    case oid::kFloat4:
    case oid::kFloat8:
    case oid::kInterval:
    case oid::kJsonb:
      return false;
    case oid::kBpchar:
      return type.modifier >= 0;  // printing pads it
    default:
      return has_textual_equality(type.oid);
  }
}

bool has_score(Type type) {
  switch (type.oid) {
    case oid::kInt2:
    case oid::kInt4:
    case oid::kInt8:
    case oid::kOid:
    case oid::kRegclass:
    case oid::kRegtype:
    case oid::kRegproc:
    case oid::kFloat4:
    case oid::kFloat8:
    case oid::kDate:
    case oid::kTimestamp:
    case oid::kTimestamptz:
    case oid::kMoney:
    case oid::kTid:
    case oid::kPgLsn:
    case oid::kXid8:
      return true;
    default:
      return false;
  }
}

bool score_is_exact(Type type) {
  switch (type.oid) {
    case oid::kInt8:
    case oid::kTimestamp:
    case oid::kTimestamptz:
    case oid::kMoney:
    case oid::kTid:
    case oid::kPgLsn:
    case oid::kXid8:
    case oid::kFloat4:
    case oid::kFloat8:
      return false;
    default:
      return has_score(type);
  }
}

double score_of(Type type, const Datum& value) {
  assert(has_score(type));
  switch (type.oid) {
    case oid::kInt2:
      return std::get<std::int16_t>(value);
    case oid::kInt4:
      return std::get<std::int32_t>(value);
    case oid::kInt8:
    case oid::kMoney:
    case oid::kTid:
    case oid::kPgLsn:
    case oid::kXid8:
      return static_cast<double>(std::get<std::int64_t>(value));
    case oid::kFloat4:
    case oid::kFloat8: {
      const double score = type.oid == oid::kFloat4 ? std::get<float>(value) : std::get<double>(value);
      if (std::isnan(score)) return score_of_infinity(true);
      return score == 0 ? 0.0 : score;
    }
    case oid::kDate: {
      const std::int32_t date = std::get<std::int32_t>(value);
      return is_finite_date(date) ? date : score_of_infinity(date > 0);
    }
    case oid::kTimestamp:
    case oid::kTimestamptz: {
      const std::int64_t timestamp = std::get<std::int64_t>(value);
      return is_finite_timestamp(timestamp) ? static_cast<double>(timestamp) : score_of_infinity(timestamp > 0);
    }
    default:
      return static_cast<std::uint32_t>(std::get<std::int32_t>(value));
  }
}

std::string ordered_score(Type type, const Datum& value) {
  const double score = score_of(type, value);
  if (std::isinf(score)) return score > 0 ? "+inf" : "-inf";
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, score);
  return {buffer, static_cast<std::size_t>(result.ptr - buffer)};
}

std::string ordered_member_prefix(Type type, const Datum& value) {
  assert(!has_score(type) && !is_null(value));
  std::string result;
  switch (type.oid) {
    case oid::kNumeric:
      result = ordered_numeric(std::get<Numeric>(value));
      break;
    case oid::kInterval:
      result = ordered_numeric(Numeric::from_int128(folded_microseconds(std::get<Interval>(value))));
      break;
    case oid::kBytea:
      return ordered_bytea(std::get<std::string>(value));
    case oid::kInet:
    case oid::kCidr:
    case oid::kTimetz:
      for (const char c : std::get<std::string>(value)) result += fmt::format("{:02x}", static_cast<unsigned char>(c));
      return result;
    case oid::kBpchar:
      result = without_trailing_blanks(std::get<std::string>(value));
      break;
    case oid::kTime:
      result = ordered_time(std::get<std::int64_t>(value));
      break;
    default:
      if (is_structured(type.oid)) {
        result = ordered_structured_bytes(type.oid, std::get<std::string>(value));
        break;
      }
      format_value(type, value, {}, result);  // text as it is; uuid and bool print in their order
  }
  if (result.size() > kMaxOrderedPrefix) result.resize(kMaxOrderedPrefix);
  return result;
}

}  // namespace redquel::sql
