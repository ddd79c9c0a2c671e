#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/datetime.h"

namespace redquel::sql {

/// time with time zone: a time of day and its zone. In memory its bytes lie in the order of the type: by the instant in
/// UTC, then from east to west.
struct ZonedTime {
  std::int64_t time = 0;     // µs since midnight, local
  std::int32_t offset = 0;   // seconds east of Greenwich

  /// Wraps around in 64 bits where `time` lies beyond the day.
  std::int64_t utc() const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(time) -
                                     static_cast<std::uint64_t>(offset * kMicrosecondsPerSecond));
  }
  /// Returns the instant in another zone.
  ZonedTime in_zone(std::int32_t east) const;

  static ZonedTime decode(std::string_view bytes);
  std::string encode() const;
};

/// Like parse_time(); a time without a zone gets the session's offset of today.
ZonedTime parse_zoned_time(std::string_view text, const SessionSettings& settings, Now now);
void append_zoned_time(const ZonedTime& value, std::string& out);
/// `time` into the day that it is of.
std::int64_t time_of_day(std::int64_t time);

}  // namespace redquel::sql
