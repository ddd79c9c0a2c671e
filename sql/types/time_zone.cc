#include "sql/types/time_zone.h"

#include <algorithm>
#include <utility>

#include "sql/types/datetime.h"

namespace redquel::sql {
namespace {

constexpr std::int64_t kSecondsPerDay = 86400;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a ^ b) < 0); }

std::int64_t unix_seconds(std::int64_t timestamp) {
  return floor_divide(timestamp, kMicrosecondsPerSecond) + kEpochUnixSeconds;
}

/// Days since 1970 of a rule in a year.
std::int64_t day_of_rule(const ZoneRule& rule, int year) {
  const std::int64_t january = days_from_civil(year, 1, 1) + kEpochUnixDays;
  switch (rule.kind) {
    case ZoneRule::Kind::kDayOfYear:
      return january + rule.day;
    case ZoneRule::Kind::kJulian:  // 29 February is never counted
      return january + rule.day - 1 + (is_leap_year(year) && rule.day >= 60 ? 1 : 0);
    case ZoneRule::Kind::kMonthWeekDay:
      break;
  }
  const std::int64_t first = days_from_civil(year, rule.month, 1) + kEpochUnixDays;
  const auto weekday = static_cast<int>(((first + 4) % 7 + 7) % 7);  // 1970-01-01 was a Thursday
  int day = 1 + (rule.day - weekday + 7) % 7 + (rule.week - 1) * 7;
  if (day > days_in_month(year, rule.month)) day -= 7;  // week 5 is the last one
  return first + day - 1;
}

}  // namespace

TimeZone::TimeZone(std::string name, std::vector<Period> periods, std::vector<std::string> abbreviations,
                   std::optional<ZoneTail> tail)
    : name_(std::move(name)),
      periods_(std::move(periods)),
      abbreviations_(std::move(abbreviations)),
      tail_(std::move(tail)) {}

TimeZone::Local TimeZone::local_of(const Period& period) const {
  return {period.offset, period.is_daylight, abbreviations_[period.abbreviation]};
}

TimeZone::Local TimeZone::local_of_tail(bool daylight) const {
  return daylight ? Local{tail_->daylight_offset, true, tail_->daylight_name}
                  : Local{tail_->standard_offset, false, tail_->standard_name};
}

std::vector<TimeZone::Change> TimeZone::tail_changes(std::int64_t seconds) const {
  std::vector<Change> changes;
  if (!tail_ || !tail_->has_daylight) return changes;
  const int year =
      civil_from_days(static_cast<std::int32_t>(floor_divide(seconds, kSecondsPerDay) - kEpochUnixDays)).year;
  for (int y = year - 1; y <= year + 1; ++y) {
    changes.push_back(
        {day_of_rule(tail_->start, y) * kSecondsPerDay + tail_->start.seconds - tail_->standard_offset, true});
    changes.push_back(
        {day_of_rule(tail_->end, y) * kSecondsPerDay + tail_->end.seconds - tail_->daylight_offset, false});
  }
  std::ranges::sort(changes, {}, &Change::at);
  return changes;
}

TimeZone::Local TimeZone::at_unix(std::int64_t seconds) const {
  const auto after = std::ranges::upper_bound(periods_, seconds, {}, &Period::begin);
  if (after == periods_.end() && tail_) {
    if (!tail_->has_daylight) return local_of_tail(false);
    bool daylight = false;
    for (const Change& change : tail_changes(seconds))
      if (change.at <= seconds) daylight = change.to_daylight;
    return local_of_tail(daylight);
  }
  return local_of(after == periods_.begin() ? periods_.front() : *std::prev(after));
}

std::optional<std::int64_t> TimeZone::next_change(std::int64_t seconds) const {
  const auto after = std::ranges::upper_bound(periods_, seconds, {}, &Period::begin);
  if (after != periods_.end()) return after->begin;
  for (const Change& change : tail_changes(seconds))
    if (change.at > seconds) return change.at;
  return std::nullopt;
}

bool TimeZone::is_fixed() const {
  const std::int32_t offset = periods_.front().offset;
  return std::ranges::all_of(periods_, [&](const Period& period) { return period.offset == offset; }) &&
         (!tail_ || (tail_->standard_offset == offset && tail_->daylight_offset == offset));
}

TimeZone::Local TimeZone::at(std::int64_t timestamp) const { return at_unix(unix_seconds(timestamp)); }

std::int32_t TimeZone::offset_of_local(std::int64_t local) const {
  if (periods_.size() == 1 && (!tail_ || !tail_->has_daylight)) return periods_.front().offset;
  const std::int64_t wall = unix_seconds(local);
  const std::int64_t day_before = wall - kSecondsPerDay;
  const std::int32_t before = at_unix(day_before).offset;
  const std::optional<std::int64_t> change = next_change(day_before);
  if (!change) return before;
  const std::int32_t after = at_unix(*change).offset;
  const std::int64_t as_before = wall - before, as_after = wall - after;
  if (as_before < *change && as_after < *change) return before;
  if (as_before > *change && as_after >= *change) return after;
  return as_before > as_after ? before : after;  // a gap : an overlap
}

std::optional<TimeZone::Local> TimeZone::of_abbreviation(std::string_view abbreviation, std::int64_t timestamp) const {
  const std::int64_t seconds = unix_seconds(timestamp);
  const Period* found = nullptr;
  for (const Period& period : periods_) {
    if (abbreviations_[period.abbreviation] != abbreviation) continue;
    if (found != nullptr && period.begin > seconds) break;
    found = &period;
    if (period.begin > seconds) break;  // none before: the first one after
  }
  if (found == nullptr) return std::nullopt;
  return local_of(*found);
}

}  // namespace redquel::sql
