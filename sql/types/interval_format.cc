#include <fmt/format.h>

#include <cstdlib>
#include <iterator>

#include "sql/types/datetime.h"

// Output of intervals in the four interval styles.
namespace redquel::sql {
namespace {

/// The parts that are printed; all of one field's parts have its sign.
struct PrintedParts {
  explicit PrintedParts(const Interval& interval)
      : year(interval.months / 12),
        month(interval.months % 12),
        day(interval.days),
        hour(interval.microseconds / kMicrosecondsPerHour),
        minute(interval.microseconds / kMicrosecondsPerMinute % 60),
        second(interval.microseconds / kMicrosecondsPerSecond % 60),
        microsecond(interval.microseconds % kMicrosecondsPerSecond) {}

  bool has_time() const { return hour != 0 || minute != 0 || second != 0 || microsecond != 0; }
  bool has_negative_time() const { return hour < 0 || minute < 0 || second < 0 || microsecond < 0; }

  std::int64_t year, month, day, hour, minute, second, microsecond;
};

template <class... Arguments>
void print(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

/// Seconds with as many decimals as they have, without sign.
void append_seconds(std::int64_t second, std::int64_t microsecond, bool two_digits, std::string& out) {
  if (two_digits) {
    print(out, "{:02}", std::llabs(second));
  } else {
    print(out, "{}", std::llabs(second));
  }
  if (microsecond == 0) return;
  print(out, ".{:06}", std::llabs(microsecond));
  while (out.back() == '0') out.pop_back();
}

void append_postgres(const PrintedParts& parts, std::string& out) {
  bool is_first = true, after_negative = false;
  const auto part = [&](std::int64_t value, std::string_view unit) {
    if (value == 0) return;
    print(out, "{}{}{} {}{}", is_first ? "" : " ", after_negative && value > 0 ? "+" : "", value, unit,
          value != 1 ? "s" : "");
    after_negative = value < 0;
    is_first = false;
  };
  part(parts.year, "year");
  part(parts.month, "mon");
  part(parts.day, "day");
  if (!is_first && !parts.has_time()) return;
  print(out, "{}{}{:02}:{:02}:", is_first ? "" : " ",
        parts.has_negative_time() ? "-"
        : after_negative          ? "+"
                                  : "",
        std::llabs(parts.hour), std::llabs(parts.minute));
  append_seconds(parts.second, parts.microsecond, true, out);
}

void append_verbose(const PrintedParts& parts, std::string& out) {
  bool is_first = true, is_negative = false;  // the first part decides whether the whole is "ago"
  out.push_back('@');
  const auto part = [&](std::int64_t value, std::string_view unit) {
    if (value == 0) return;
    if (is_first) {
      is_negative = value < 0;
      value = std::llabs(value);
    } else if (is_negative) {
      value = -value;
    }
    print(out, " {} {}{}", value, unit, value == 1 ? "" : "s");
    is_first = false;
  };
  part(parts.year, "year");
  part(parts.month, "mon");
  part(parts.day, "day");
  part(parts.hour, "hour");
  part(parts.minute, "min");
  if (parts.second != 0 || parts.microsecond != 0) {
    out.push_back(' ');
    if (parts.second < 0 || parts.microsecond < 0) {
      if (is_first) {
        is_negative = true;
      } else if (!is_negative) {
        out.push_back('-');
      }
    } else if (is_negative) {
      out.push_back('-');
    }
    append_seconds(parts.second, parts.microsecond, false, out);
    out += std::llabs(parts.second) != 1 || parts.microsecond != 0 ? " secs" : " sec";
    is_first = false;
  }
  if (is_first) out += " 0";
  if (is_negative) out += " ago";
}

void append_iso8601(const PrintedParts& parts, std::string& out) {
  const auto part = [&](std::int64_t value, char unit) {
    if (value != 0) print(out, "{}{}", value, unit);
  };
  if (parts.year == 0 && parts.month == 0 && parts.day == 0 && !parts.has_time()) {
    out += "PT0S";
    return;
  }
  out.push_back('P');
  part(parts.year, 'Y');
  part(parts.month, 'M');
  part(parts.day, 'D');
  if (parts.has_time()) out.push_back('T');
  part(parts.hour, 'H');
  part(parts.minute, 'M');
  if (parts.second == 0 && parts.microsecond == 0) return;
  if (parts.second < 0 || parts.microsecond < 0) out.push_back('-');
  append_seconds(parts.second, parts.microsecond, false, out);
  out.push_back('S');
}

/// The standard knows year-month and day-time intervals with one sign; other values print every sign.
void append_sql_standard(PrintedParts parts, std::string& out) {
  const bool has_negative = parts.year < 0 || parts.month < 0 || parts.day < 0 || parts.has_negative_time();
  const bool has_positive =
      parts.year > 0 || parts.month > 0 || parts.day > 0 || (parts.has_time() && !parts.has_negative_time());
  const bool has_months = parts.year != 0 || parts.month != 0;
  const bool has_days_or_time = parts.day != 0 || parts.has_time();
  const bool is_standard = !(has_negative && has_positive) && !(has_months && has_days_or_time);
  if (!has_negative && !has_positive) {
    out.push_back('0');
    return;
  }
  if (!is_standard) {
    print(out, "{}{}-{} {}{} {}{}:{:02}:", parts.year < 0 || parts.month < 0 ? '-' : '+', std::llabs(parts.year),
          std::llabs(parts.month), parts.day < 0 ? '-' : '+', std::llabs(parts.day),
          parts.has_negative_time() ? '-' : '+', std::llabs(parts.hour), std::llabs(parts.minute));
    append_seconds(parts.second, parts.microsecond, true, out);
    return;
  }
  if (has_negative) out.push_back('-');
  if (has_months) {
    print(out, "{}-{}", std::llabs(parts.year), std::llabs(parts.month));
    return;
  }
  if (parts.day != 0) print(out, "{} ", std::llabs(parts.day));
  print(out, "{}:{:02}:", std::llabs(parts.hour), std::llabs(parts.minute));
  append_seconds(parts.second, parts.microsecond, true, out);
}

}  // namespace

void append_interval(const Interval& interval, const SessionSettings& settings, std::string& out) {
  const PrintedParts parts(interval);
  switch (settings.interval_style) {
    case IntervalStyle::kPostgres:
      append_postgres(parts, out);
      break;
    case IntervalStyle::kPostgresVerbose:
      append_verbose(parts, out);
      break;
    case IntervalStyle::kSqlStandard:
      append_sql_standard(parts, out);
      break;
    case IntervalStyle::kIso8601:
      append_iso8601(parts, out);
      break;
  }
}

}  // namespace redquel::sql
