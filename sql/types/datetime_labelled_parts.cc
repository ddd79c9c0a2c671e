#include "sql/types/datetime_decoder.h"

namespace redquel::sql {

/// y2001m12d27h04m05s06.789: each letter says what its number is; an m behind month and hour is a minute.
ParseFailure DateTimeDecoder::set_part(std::int32_t value, std::string_view fraction, FieldSet& found) {
  if (!fraction.empty() && *prefix_ != TokenValue::kSecond) return ParseFailure::kBadFormat;
  const auto set = [&](int& part, TokenKind kind) {
    part = value;
    found = kind;
  };
  switch (*prefix_) {
    case TokenValue::kYear:
      set(value_.year, TokenKind::kYear);
      break;
    case TokenValue::kMonth:
      if (seen_.has_all(TokenKind::kMonth | TokenKind::kHour)) {
        set(value_.minute, TokenKind::kMinute);
      } else {
        set(value_.month, TokenKind::kMonth);
      }
      break;
    case TokenValue::kDay:
      set(value_.day, TokenKind::kDay);
      break;
    case TokenValue::kHour:
      set(value_.hour, TokenKind::kHour);
      break;
    case TokenValue::kMinute:
      set(value_.minute, TokenKind::kMinute);
      break;
    case TokenValue::kSecond: {
      set(value_.second, TokenKind::kSecond);
      if (fraction.empty()) break;
      const std::optional<std::int32_t> microseconds = decode_fractional_second(fraction);
      if (!microseconds) return ParseFailure::kBadFormat;
      value_.microsecond = *microseconds;
      found = kAllSecondFields;
      break;
    }
    default:
      return ParseFailure::kBadFormat;
  }
  return ParseFailure::kNone;
}

}  // namespace redquel::sql
