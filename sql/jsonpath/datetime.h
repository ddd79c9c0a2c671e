#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql/evaluation_context.h"
#include "sql/jsonpath/value.h"

namespace redquel::sql {

/// datetime() without a template: ISO 8601 dates, times and timestamps. nullopt: none of them.
std::optional<JsonPathDatetime> parse_iso_datetime(std::string_view text);
/// datetime(template). 22007, 22008 where the text does not follow it.
JsonPathDatetime parse_datetime(std::string_view text, std::string_view picture);
/// Return the value as a jsonb string, and the type's name as type() gives it.
std::string datetime_text(const JsonPathDatetime& value);
std::string_view datetime_type_name(const JsonPathDatetime& value);
/// Negative, zero, positive; nullopt where the two cannot be compared (a date and a time). 0A000 where the session's zone
/// would decide and may not.
std::optional<int> compare_datetimes(const JsonPathDatetime& a, const JsonPathDatetime& b, bool with_zone,
                                     const EvaluationContext& context);

}  // namespace redquel::sql
