#include "sql/catalog/prefixes.h"

#include <algorithm>

#include "sql/catalog/buckets.h"
#include "sql/catalog/key_segments.h"

namespace redquel::sql {

namespace {

bool extends(std::string_view longer, std::string_view shorter) {
  return longer.size() > shorter.size() && longer.starts_with(shorter) && longer[shorter.size()] == ':';
}

bool is_free(std::string_view prefix, const ReservedPrefixes& reserved) {
  if (prefixes_collide(prefix, "redquel")) return false;
  return std::none_of(reserved.begin(), reserved.end(),
                      [&](const std::string& taken) { return prefixes_collide(prefix, taken); });
}

}  // namespace

bool prefixes_collide(std::string_view a, std::string_view b) {
  a = without_tag(a), b = without_tag(b);
  return a == b || extends(a, b) || extends(b, a);
}

std::string choose_prefix(std::string_view schema, std::string_view name, const ReservedPrefixes& reserved) {
  const std::string base = escape_name(name);
  const std::string space = schema == "public" ? std::string() : escape_name(schema);
  const auto joined = [](const std::string& first, const std::string& second) {
    return first.empty() ? second : first + ":" + second;
  };
  if (std::string prefix = joined(space, base); is_free(prefix, reserved)) return prefix;
  for (std::size_t number = 2;; ++number) {
    const std::string suffix = "~" + std::to_string(number);
    if (std::string prefix = joined(space, base + suffix); is_free(prefix, reserved)) return prefix;
    if (space.empty()) continue;
    if (std::string prefix = joined(space + suffix, base); is_free(prefix, reserved)) return prefix;
  }
}

std::string choose_field(const TableDef& table, std::string_view column_name) {
  const auto is_taken = [&](std::string_view field) {
    // Fields that redquel itself puts beside the columns'.
    if (field == kHiddenKeyField || field.ends_with("%N")) return true;
    if (std::ranges::find(table.computed, field, &ColumnDef::field) != table.computed.end()) return true;
    const auto& used = table.used_fields;
    return std::find(used.begin(), used.end(), field) != used.end() ||
           std::any_of(table.columns.begin(), table.columns.end(), [&](const ColumnDef& column) { return column.field == field; });
  };
  std::string field(column_name);
  for (std::size_t number = 2; is_taken(field); ++number) field = std::string(column_name) + "~" + std::to_string(number);
  return field;
}

std::string null_marker(const ColumnDef& column) { return column.field + "%N"; }

}  // namespace redquel::sql
