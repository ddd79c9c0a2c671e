#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/json_text.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// A date or time that datetime() made: the type's value (date, time, timestamp, timestamptz; time with time zone has the
/// local time and its zone in seconds east).
struct JsonPathDatetime {
  Oid type = 0;
  std::int64_t value = 0;
  std::int32_t zone = 0;
};

/// A value along a path: jsonb text, which lies in the document, the path or the run's own memory; or a date or time.
struct JsonPathValue {
  std::string_view text;
  const JsonPathDatetime* datetime = nullptr;

  JsonKind kind() const { return json_kind(text); }
  bool is(JsonKind wanted) const { return datetime == nullptr && kind() == wanted; }
  bool is_container() const { return datetime == nullptr && is_json_container(text); }
};

using JsonPathValues = std::vector<JsonPathValue>;

}  // namespace redquel::sql
