#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/session_settings.h"

namespace redquel::sql {

/// Rules of one end of daylight saving time in a POSIX TZ string ("M3.5.0/2").
struct ZoneRule {
  enum class Kind : std::uint8_t { kJulian, kDayOfYear, kMonthWeekDay } kind = Kind::kMonthWeekDay;
  int month = 0, week = 0, day = 0;
  int seconds = 7200;  // local time of the change
};

/// The rule after the last transition of a zone file, or for all times: a POSIX TZ string, decoded.
struct ZoneTail {
  std::string standard_name, daylight_name;
  std::int32_t standard_offset = 0, daylight_offset = 0;  // seconds east of Greenwich
  bool has_daylight = false;
  ZoneRule start, end;
};

/// A time zone: offsets by instant. Loaded once per name from the system's zone files (TZDIR, /usr/share/zoneinfo),
/// never freed; all members are safe to call from any thread.
class TimeZone {
 public:
  struct Local {
    std::int32_t offset = 0;  // seconds east of Greenwich
    bool is_daylight = false;
    std::string_view abbreviation;  // "CET"; "+02" where the zone has no letters
  };
  struct Period {
    std::int64_t begin;  // Unix seconds
    std::int32_t offset;
    bool is_daylight;
    std::uint16_t abbreviation;  // index into the names below
  };

  /// `periods` are in order of time and not empty; the first holds for everything before it, too. `tail`, where there
  /// is one, goes on after the last.
  TimeZone(std::string name, std::vector<Period> periods, std::vector<std::string> abbreviations,
           std::optional<ZoneTail> tail);

  /// The name as PostgreSQL shows it: "Europe/Berlin", "<+02>-02".
  const std::string& name() const { return name_; }
  /// Returns the zone's offset and name at `timestamp` (µs since 2000-01-01 UTC).
  Local at(std::int64_t timestamp) const;
  /// Offset (seconds east) of a local time (µs since 2000-01-01 on the wall clock). Where the clock is put forward the
  /// offset before is taken, where it is put back the one after: standard time, as PostgreSQL does.
  std::int32_t offset_of_local(std::int64_t local) const;
  /// Returns true if the zone has always had one offset.
  bool is_fixed() const;
  /// Returns the meaning of an abbreviation (upper case) in this zone at `timestamp`, or the last time before, or else the first time.
  std::optional<Local> of_abbreviation(std::string_view abbreviation, std::int64_t timestamp) const;

 private:
  struct Change {
    std::int64_t at;  // Unix seconds
    bool to_daylight;
  };
  Local at_unix(std::int64_t seconds) const;
  /// The first change after an instant.
  std::optional<std::int64_t> next_change(std::int64_t seconds) const;
  /// Changes of the tail around an instant: those of its year and both neighbours.
  std::vector<Change> tail_changes(std::int64_t seconds) const;
  Local local_of(const Period& period) const;
  Local local_of_tail(bool daylight) const;

  std::string name_;
  std::vector<Period> periods_;
  std::vector<std::string> abbreviations_;
  std::optional<ZoneTail> tail_;
};

/// "CET-1CEST,M3.5.0,M10.5.0/3": the tail, or nullopt where it is no POSIX TZ string.
std::optional<ZoneTail> parse_posix_zone(std::string_view text);

/// By name in any letter case ("europe/berlin"), POSIX string ("PST8PDT", "<+02>-02") or what SET TIME ZONE accepts as
/// a number ("+02", "-3.5": hours east). nullptr if there is no such zone.
const TimeZone* find_time_zone(std::string_view name);
/// Throws 22023 `time zone "x" not recognized`.
const TimeZone& time_zone_named(std::string_view name);
/// The zone of a session, remembered per thread. Asserts that the name was validated (falls back to UTC).
const TimeZone& session_zone(const SessionSettings& settings);

/// SET TIME ZONE: the canonical spelling of a value, or nullopt if PostgreSQL would refuse it.
std::optional<std::string> normalize_time_zone(std::string_view name);

/// An abbreviation of PostgreSQL's default set ("EST", "msk"): fixed offset, or a zone whose history decides.
struct ZoneAbbreviation {
  std::string_view name;  // lower case
  std::int32_t offset;    // seconds east; unused when `zone` is not empty
  bool is_daylight;
  std::string_view zone;
};
const ZoneAbbreviation* find_zone_abbreviation(std::string_view lower);
/// All of them, by name.
std::span<const ZoneAbbreviation> zone_abbreviations();

}  // namespace redquel::sql
