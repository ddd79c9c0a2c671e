#include "sql/functions/parameter_names.h"

#include <algorithm>

namespace redquel::sql {

std::span<const ParameterNames> parameter_names(std::string_view function) {
  static const std::vector<ParameterNames> table = [] {
    std::vector<ParameterNames> rows = {
        {"json_array_element", {"from_json", "element_index"}},
        {"json_array_element_text", {"from_json", "element_index"}},
        {"json_object_field", {"from_json", "field_name"}},
        {"json_object_field_text", {"from_json", "field_name"}},
        {"jsonb_array_element", {"from_json", "element_index"}},
        {"jsonb_array_element_text", {"from_json", "element_index"}},
        {"jsonb_object_field", {"from_json", "field_name"}},
        {"jsonb_object_field_text", {"from_json", "field_name"}},
        {"jsonb_insert", {"jsonb_in", "path", "replacement", "insert_after"}, {"false"}},
        {"jsonb_set", {"jsonb_in", "path", "replacement", "create_if_missing"}, {"true"}},
        {"jsonb_set_lax",
         {"jsonb_in", "path", "replacement", "create_if_missing", "null_value_treatment"},
         {"true", "use_json_null"}},
        {"make_date", {"year", "month", "day"}},
        {"pg_promote", {"wait", "wait_seconds"}, {"true", "60"}},
        {"make_interval", {"years", "months", "weeks", "days", "hours", "mins", "secs"}, {"0", "0", "0", "0", "0", "0", "0.0"}},
        {"make_time", {"hour", "min", "sec"}},
        {"make_timestamp", {"year", "month", "mday", "hour", "min", "sec"}},
        {"make_timestamptz", {"year", "month", "mday", "hour", "min", "sec"}},
        {"make_timestamptz", {"year", "month", "mday", "hour", "min", "sec", "timezone"}},
        {"parse_ident", {"str", "strict"}, {"true"}},
    };
    for (const std::string_view name :
         {"jsonb_path_exists", "jsonb_path_exists_tz", "jsonb_path_match", "jsonb_path_match_tz", "jsonb_path_query",
          "jsonb_path_query_array", "jsonb_path_query_array_tz", "jsonb_path_query_first", "jsonb_path_query_first_tz",
          "jsonb_path_query_tz"}) {
      rows.push_back({name, {"target", "path", "vars", "silent"}, {"{}", "false"}});
    }
    std::ranges::stable_sort(rows, {}, &ParameterNames::function);
    return rows;
  }();
  const auto [begin, end] = std::ranges::equal_range(table, function, {}, &ParameterNames::function);
  return {begin, end};
}

}  // namespace redquel::sql
