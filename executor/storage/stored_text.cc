#include "executor/storage/stored_text.h"

#include <cstdint>
#include <cstring>

#include "sql/error.h"
#include "sql/types/byte_text.h"
#include "sql/types/compare.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

void append_stored_text(sql::Type type, const sql::Datum& value, std::string& out) {
  static const sql::SessionSettings kStorageForm;
  if (type.oid == sql::oid::kBpchar) {  // its blanks are added when it is printed
    out += sql::without_trailing_blanks(std::get<std::string>(value));
  } else {
    sql::format_value(type, value, kStorageForm, out);
  }
}

namespace {

bool parses(sql::Type type, std::string_view text) {
  try {
    parse_stored_text(type, text);
    return true;
  } catch (const sql::SqlError&) {
    return false;
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <int digits>
bool is_integer(sql::Type type, std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0, count = text.size() - sign;
  if (count == 0 || count > digits) return parses(type, text);  // perhaps at the end of its range
  for (const char c : text.substr(sign)) {
    if (!is_digit(c)) return parses(type, text);
  }
  return true;
}

bool is_boolean(sql::Type type, std::string_view text) { return text == "t" || text == "f" || parses(type, text); }

bool is_number(sql::Type type, std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const auto point = text.find('.');
  if (text.size() - sign == 0 || text.size() > 20 || point == sign || point == text.size() - 1) return parses(type, text);
  for (std::size_t i = sign; i < text.size(); ++i) {
    if (!is_digit(text[i]) && i != point) return parses(type, text);
  }
  return true;
}

/// The first ten characters are a date of every month: 2026-11-28.
bool begins_with_date(std::string_view text) {
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return false;
  for (const std::size_t i : {0, 1, 2, 3, 5, 6, 8, 9}) {
    if (!is_digit(text[i])) return false;
  }
  const int year = (text[0] - '0') * 1000 + (text[1] - '0') * 100 + (text[2] - '0') * 10 + text[3] - '0';
  const int month = (text[5] - '0') * 10 + text[6] - '0', day = (text[8] - '0') * 10 + text[9] - '0';
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= 28;
}
bool is_date(sql::Type type, std::string_view text) { return (text.size() == 10 && begins_with_date(text)) || parses(type, text); }

/// 2026-11-28 23:59:59, perhaps with a fraction and, of a timestamptz, +00.
bool is_timestamp(sql::Type type, std::string_view text) {
  if (text.size() < 19 || !begins_with_date(text) || text[10] != ' ' || text[13] != ':' || text[16] != ':') return parses(type, text);
  for (const std::size_t i : {11, 12, 14, 15, 17, 18}) {
    if (!is_digit(text[i])) return parses(type, text);
  }
  const bool is_time = (text[11] < '2' || (text[11] == '2' && text[12] < '4')) && text[14] < '6' && text[17] < '6';
  std::string_view rest = text.substr(19);
  if (type.oid == sql::oid::kTimestamptz) {
    if (!rest.ends_with("+00")) return parses(type, text);
    rest.remove_suffix(3);
  }
  const bool has_fraction = rest.size() >= 2 && rest.size() <= 7 && rest[0] == '.' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return (is_time && (rest.empty() || has_fraction)) || parses(type, text);
}

bool is_text(sql::Type, std::string_view text) {
  std::uint64_t high_bits = 0;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, text.data() + i, 8);
    high_bits |= eight;
  }
  for (; i < text.size(); ++i) high_bits |= static_cast<unsigned char>(text[i]);
  constexpr std::uint64_t kNotAscii = 0x8080808080808080;
  return (high_bits & kNotAscii) == 0 || sql::is_valid_utf8(text);
}

/// Functions on json and jsonb rely on this check: text that is no JSON would lead them beyond its end.
bool is_json(sql::Type, std::string_view text) {
  try {
    sql::check_utf8(text);
    sql::check_json(text);
    return true;
  } catch (const sql::SqlError&) {
    return false;
  }
}

}  // namespace

StoredTextCheck stored_text_check(sql::Type type) {
  switch (type.oid) {
    case sql::oid::kInt2:
      return is_integer<4>;
    case sql::oid::kInt4:
    case sql::oid::kOid:
      return is_integer<9>;
    case sql::oid::kInt8:
      return is_integer<18>;
    case sql::oid::kBool:
      return is_boolean;
    case sql::oid::kNumeric:
    case sql::oid::kFloat4:
    case sql::oid::kFloat8:
      return is_number;
    case sql::oid::kDate:
      return is_date;
    case sql::oid::kTimestamp:
    case sql::oid::kTimestamptz:
      return is_timestamp;
    case sql::oid::kTime:
    case sql::oid::kInterval:
    case sql::oid::kUuid:
      return parses;
    case sql::oid::kText:
    case sql::oid::kVarchar:
    case sql::oid::kBpchar:
    case sql::oid::kName:
      return is_text;
    case sql::oid::kJson:
    case sql::oid::kJsonb:
      return is_json;
    default:
      return parses;
  }
}

sql::Datum parse_stored_text(sql::Type type, std::string_view text) {
  static const sql::SessionSettings kStorageForm;
  sql::Datum value = sql::parse_value(type, text, kStorageForm);
  return type.oid == sql::oid::kBpchar ? sql::apply_modifier(type, std::move(value), true) : value;
}

}  // namespace redquel::executor
