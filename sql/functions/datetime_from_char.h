#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/time_zone.h"

namespace redquel::sql {

/// to_timestamp(text, template) and to_date(text, template) (manual 9.8). 22007 where the text does not follow the
/// template, 22008 where a field is out of range.
std::int64_t timestamptz_from_char(std::string_view text, std::string_view picture, const TimeZone& zone);
std::int32_t date_from_char(std::string_view text, std::string_view picture);

/// Like the functions above, for SQL/JSON's datetime(template), which must match every character up to the end.
std::int64_t timestamptz_from_standard_template(std::string_view text, std::string_view picture, const TimeZone& zone);
std::int32_t date_from_standard_template(std::string_view text, std::string_view picture);

}  // namespace redquel::sql
