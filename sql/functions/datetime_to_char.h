#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/interval.h"
#include "sql/types/time_zone.h"

namespace redquel::sql {

// to_char of points in time and intervals (manual 9.8). False: NULL (an empty template, an infinite timestamp).
// Intervals have no names of days or months, eras or zones: 22007.

bool timestamp_to_char(std::int64_t timestamp, std::string_view picture, std::string& out);
bool timestamptz_to_char(std::int64_t timestamp, std::string_view picture, const TimeZone& zone, std::string& out);
bool interval_to_char(const Interval& interval, std::string_view picture, std::string& out);

}  // namespace redquel::sql
