#include "sql/discovery/column_inference.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "sql/ascii.h"
#include "sql/discovery/key_shapes.h"
#include "sql/error.h"
#include "sql/types/byte_text.h"
#include "sql/types/json_text.h"

namespace redquel::sql {
namespace {

using Text = std::string_view;

constexpr std::size_t kEnoughForNotNull = 30;  // values of a sample without a missing one

/// A number as a program prints it: no zeros in front that a number would lose.
bool is_integer(Text text) {
  if (text == "-0") return false;
  if (text.starts_with('-')) text.remove_prefix(1);
  if (!all_digits(text) || (text.size() > 1 && text[0] == '0')) return false;
  std::int64_t number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
}

bool is_decimal(Text text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const Text whole = text.substr(0, point);
  if (!all_digits(whole) || (whole.size() > 1 && whole[0] == '0')) return false;
  return point == Text::npos || all_digits(text.substr(point + 1));
}

bool is_float(Text text) {
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent == Text::npos) return is_decimal(text);
  Text power = text.substr(exponent + 1);
  if (power.starts_with('-') || power.starts_with('+')) power.remove_prefix(1);
  return is_decimal(text.substr(0, exponent)) && all_digits(power) && power.size() <= 3;
}

bool is_boolean(Text text) { return text == "true" || text == "false" || text == "t" || text == "f" || text == "True" || text == "False"; }
bool is_bit(Text text) { return text == "0" || text == "1"; }

bool in_range(Text digits, int least, int most) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return all_digits(digits) && number >= least && number <= most;
}

/// 2011-1-1 and 2011-01-01.
bool is_date(Text text) {
  const std::size_t first = text.find('-'), second = first == Text::npos ? first : text.find('-', first + 1);
  if (first != 4 || second == Text::npos || text.size() > 10) return false;
  const Text month = text.substr(5, second - 5), day = text.substr(second + 1);
  return in_range(text.substr(0, 4), 1, 9999) && month.size() <= 2 && in_range(month, 1, 12) && day.size() <= 2 && in_range(day, 1, 31);
}

/// A date and a time of day; `zoned`: with its distance to UTC.
bool is_timestamp(Text text, bool& zoned) {
  const std::size_t between = text.find_first_of(" T");
  if (between == Text::npos || !is_date(text.substr(0, between))) return false;
  Text time = text.substr(between + 1);
  const std::size_t zone = time.find_first_of("Z+-");
  if (zone != Text::npos) {
    const Text rest = time.substr(zone + 1);
    if (time[zone] == 'Z' ? !rest.empty() : rest.size() < 2 || rest.size() > 6 || !is_digit(rest[0]) || !is_digit(rest[1])) return false;
    zoned = true;
    time = time.substr(0, zone);
  }
  if (time.size() < 5 || time[2] != ':' || !in_range(time.substr(0, 2), 0, 24) || !in_range(time.substr(3, 2), 0, 59)) return false;
  if (time.size() == 5) return true;
  if (time.size() < 8 || time[5] != ':' || !in_range(time.substr(6, 2), 0, 60)) return false;
  return time.size() == 8 || (time[8] == '.' && all_digits(time.substr(9)));
}

bool is_document(Text text) {
  if (!text.starts_with('{') && !text.starts_with('[')) return false;
  try {
    check_json(text);
    return true;
  } catch (const SqlError&) {
    return false;
  }
}

bool holds(Text name, Text word) {
  return lower_case(name).find(word) != std::string::npos;
}

bool sounds_like_time(Text name) {
  static constexpr Text kWords[] = {"time", "date", "seen", "created", "updated", "modified", "expire", "expiry", "stamp", "login", "since", "until", "last_", "hired", "born", "joined", "posted", "published", "started", "finished", "ended", "sent"};
  if (name.ends_with("_at") || name.ends_with("At") || name == "ts" || name == "at" || name.ends_with("_ts") || name.ends_with("_on")) return true;
  return std::ranges::any_of(kWords, [&](Text word) { return holds(name, word); });
}

/// A moment rather than a day: values that were not read may have a time of day, which a date would lose.
bool sounds_like_moment(Text name) {
  return holds(name, "time") || holds(name, "stamp") || name.ends_with("_at") || name.ends_with("At") || name.ends_with("_ts") || name == "at" || name == "ts";
}

bool sounds_like_flag(Text name) {
  static constexpr Text kWords[] = {"active", "enabled", "disabled", "deleted", "verified", "visible", "hidden", "public", "private", "locked", "flag", "confirmed", "admin"};
  if (name.starts_with("is_") || name.starts_with("has_") || name.starts_with("can_")) return true;
  return std::ranges::any_of(kWords, [&](Text word) { return holds(name, word); });
}

/// Seconds or milliseconds between the years 2000 and 2100.
std::string_view time_format(std::int64_t least, std::int64_t most) {
  constexpr std::int64_t kFirst = 946'684'800, kLast = 4'102'444'800;
  if (least >= kFirst && most < kLast) return "unix";
  if (least >= kFirst * 1000 && most < kLast * 1000) return "unix_ms";
  return {};
}

void infer_integer(Text name, const std::vector<Text>& values, InferredColumn& column) {
  column.type = "bigint";
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (const Text value : values) {
    std::int64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    least = std::min(least, number);
    most = std::max(most, number);
  }
  const bool is_flag = std::ranges::all_of(values, is_bit);
  if (is_flag && sounds_like_flag(name)) {
    column.type = "boolean";
    column.format = "bool01";
    return;
  }
  const std::string_view format = time_format(least, most);
  if (format.empty()) return;
  if (sounds_like_time(name)) {
    column.type = "timestamptz";
    column.format = format;
  } else {
    column.doubt = "may be Unix time (format '" + std::string(format) + "')";
  }
}

}  // namespace

InferredColumn infer_column(std::string_view name, const std::vector<std::optional<std::string>>& values, bool is_complete) {
  InferredColumn column;
  std::vector<Text> texts;
  std::size_t missing = 0, empty = 0;
  for (const std::optional<std::string>& value : values) {
    if (!value) ++missing;
    else if (value->empty()) ++empty;
    else texts.push_back(*value);
  }
  const auto all = [&](auto&& is) { return std::ranges::all_of(texts, is); };
  bool zoned = false;
  if (texts.empty()) {
    if (values.empty()) column.doubt = "no value was seen";
  } else if (all(is_integer)) {
    infer_integer(name, texts, column);
  } else if (all(is_decimal)) {
    column.type = "numeric";
  } else if (all(is_float)) {
    column.type = "double precision";
  } else if (all(is_boolean)) {
    column.type = "boolean";
  } else if (all(is_uuid)) {
    column.type = "uuid";
  } else if (all(is_date) && (is_complete || !sounds_like_moment(name))) {
    column.type = "date";
  } else if (all([&](Text text) { return is_date(text) || is_timestamp(text, zoned); })) {
    column.type = zoned ? "timestamptz" : "timestamp";
  } else if (all(is_document)) {
    column.type = "jsonb";
    column.format = "json";
  } else if (!all(is_valid_utf8)) {
    const auto readable = std::ranges::count_if(texts, is_valid_utf8);
    if (static_cast<std::size_t>(readable) * 2 < texts.size()) {
      column.type = "bytea";
      column.format = "raw";
    } else {
      column.doubt = "some values are no UTF-8 text";
    }
  } else {
    const auto numbers = std::ranges::count_if(texts, is_integer);
    if (texts.size() >= 10 && static_cast<std::size_t>(numbers) * 10 >= texts.size() * 9) column.doubt = "nearly all values are numbers";
  }
  column.empties_are_null = empty > 0 && column.type != "text" && column.type != "bytea";
  const bool seen_enough = is_complete || values.size() >= kEnoughForNotNull;
  column.nullable = missing > 0 || column.empties_are_null || !seen_enough;
  return column;
}

}  // namespace redquel::sql
