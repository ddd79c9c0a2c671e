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
  return !prefixes_collide(prefix, "redquel") && !reserved.collide(prefix);
}

}  // namespace

bool prefixes_collide(std::string_view a, std::string_view b) {
  a = without_tag(a), b = without_tag(b);
  return a == b || extends(a, b) || extends(b, a);
}

namespace {

std::pair<std::string, std::string> key_of(const std::string& prefix) { return {std::string(without_tag(prefix)), prefix}; }

}  // namespace

bool ReservedPrefixes::insert(const std::string& prefix) { return prefixes_.emplace(key_of(prefix), {}); }
void ReservedPrefixes::erase(const std::string& prefix) { prefixes_.erase(key_of(prefix)); }
bool ReservedPrefixes::contains(const std::string& prefix) const { return prefixes_.contains(key_of(prefix)); }

bool ReservedPrefixes::collide(std::string_view prefix) const {
  const std::string bare(without_tag(prefix));
  const auto is_next = [&](const std::string& from, auto fits) {
    const auto next = prefixes_.lower_bound(std::pair(from, std::string()));
    return next != prefixes_.end() && fits(next->first.first);
  };
  // Those that it extends, itself, and those that extend it.
  for (std::size_t end = bare.find(':'); end != std::string::npos; end = bare.find(':', end + 1)) {
    const std::string part = bare.substr(0, end);
    if (is_next(part, [&](const std::string& taken) { return taken == part; })) return true;
  }
  return is_next(bare, [&](const std::string& taken) { return taken == bare; }) ||
         is_next(bare + ":", [&](const std::string& taken) { return extends(taken, bare); });
}

std::vector<std::string> ReservedPrefixes::all() const {
  std::vector<std::string> prefixes;
  for (const auto& [names, nothing] : prefixes_) prefixes.push_back(names.second);
  return prefixes;
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
