#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "sql/types/time_zone.h"

// POSIX TZ strings: "CET-1CEST,M3.5.0,M10.5.0/3". Offsets are west of Greenwich there.
namespace redquel::sql {
namespace {

class PosixZoneParser {
 public:
  explicit PosixZoneParser(std::string_view text) : rest_(text) {}

  std::optional<ZoneTail> parse() {
    ZoneTail tail;
    if (!name(tail.standard_name) || rest_.empty()) return std::nullopt;
    std::int32_t west = 0;
    if (!time(west, 167)) return std::nullopt;
    tail.standard_offset = tail.daylight_offset = -west;
    if (rest_.empty()) return tail;
    tail.has_daylight = true;
    if (!name(tail.daylight_name) || tail.daylight_name.empty()) return std::nullopt;
    tail.daylight_offset = tail.standard_offset + 3600;
    if (!rest_.empty() && rest_.front() != ',' && rest_.front() != ';') {
      if (!time(west, 167)) return std::nullopt;
      tail.daylight_offset = -west;
    }
    if (rest_.empty()) rest_ = ",M3.2.0,M11.1.0";  // the rules of the USA
    if (!rule(tail.start) || !rule(tail.end) || !rest_.empty()) return std::nullopt;
    return tail;
  }

 private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Letters, or anything in angle brackets. May be empty, as in "+02".
  bool name(std::string& out) {
    std::size_t length = 0;
    if (take('<')) {
      length = rest_.find('>');
      if (length == std::string_view::npos) return false;
      out = rest_.substr(0, length);
      rest_.remove_prefix(length + 1);
      return true;
    }
    while (length < rest_.size() && std::string_view("0123456789,-+").find(rest_[length]) == std::string_view::npos)
      ++length;
    out = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }

  bool number(int& out, int least, int most) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc() || rest_.front() == '-' || out < least || out > most) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }

  /// [+-]hh[:mm[:ss]] in seconds.
  bool time(std::int32_t& out, int most_hours) {
    const bool negative = take('-');
    if (!negative) take('+');
    int hours = 0, minutes = 0, seconds = 0;
    if (rest_.empty() || !number(hours, 0, most_hours)) return false;
    if (take(':')) {
      if (rest_.empty() || !number(minutes, 0, 59)) return false;
      if (take(':') && (rest_.empty() || !number(seconds, 0, 60))) return false;
    }
    out = (hours * 60 + minutes) * 60 + seconds;
    if (negative) out = -out;
    return true;
  }

  bool rule(ZoneRule& out) {
    if (!take(',') || rest_.empty()) return false;
    if (take('M')) {
      out.kind = ZoneRule::Kind::kMonthWeekDay;
      if (rest_.empty() || !number(out.month, 1, 12) || !take('.') || rest_.empty() || !number(out.week, 1, 5) ||
          !take('.') || rest_.empty() || !number(out.day, 0, 6))
        return false;
    } else if (take('J')) {
      out.kind = ZoneRule::Kind::kJulian;
      if (rest_.empty() || !number(out.day, 1, 365)) return false;
    } else {
      out.kind = ZoneRule::Kind::kDayOfYear;
      if (!number(out.day, 0, 365)) return false;
    }
    out.seconds = 7200;
    return take('/') ? time(out.seconds, 167) : true;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<ZoneTail> parse_posix_zone(std::string_view text) { return PosixZoneParser(text).parse(); }

}  // namespace redquel::sql
