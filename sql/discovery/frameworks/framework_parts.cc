#include "sql/discovery/frameworks/framework_parts.h"

#include <algorithm>

namespace redquel::sql {

namespace {

std::vector<ProposedColumn> slot_columns(std::vector<std::string> slots) {
  std::vector<ProposedColumn> columns;
  for (std::string& slot : slots) columns.push_back(proposed_column(std::move(slot), "text"));
  return columns;
}

}  // namespace

FoundFramework found_framework(std::string_view name, std::string_view schema, std::string comment) {
  FoundFramework found;
  found.proposal.name = name;
  found.proposal.schema = schema;
  found.proposal.comment = std::move(comment);
  return found;
}

ProposedColumn proposed_column(std::string name, std::string type, ColumnOptions options) {
  ProposedColumn column;
  column.name = std::move(name);
  column.type = std::move(type);
  if (column.type == "jsonb") options.emplace_back("format", "json");
  if (column.type == "bytea") options.emplace_back("format", "raw");
  column.options = std::move(options);
  return column;
}

ProposedColumn field_column(std::string name, std::string type, std::string field, ColumnOptions options) {
  options.insert(options.begin(), {"field", std::move(field)});
  return proposed_column(std::move(name), std::move(type), std::move(options));
}

ProposedTable proposed_table(std::string name, std::string layout, std::string key, std::vector<ProposedColumn> columns) {
  ProposedTable table;
  table.name = std::move(name);
  table.layout = std::move(layout);
  table.key = std::move(key);
  table.columns = std::move(columns);
  return table;
}

ProposedTable list_table(std::string name, std::string key, std::vector<std::string> slots, std::string value, std::string value_type) {
  std::vector<ProposedColumn> columns = slot_columns(std::move(slots));
  columns.push_back(proposed_column("position", "bigint", {{"role", "position"}}));
  columns.push_back(proposed_column(std::move(value), std::move(value_type), {{"role", "value"}}));
  return proposed_table(std::move(name), "list", std::move(key), std::move(columns));
}

ProposedTable timed_table(std::string name, std::string key, std::vector<std::string> slots, std::string member, std::string time) {
  std::vector<ProposedColumn> columns = slot_columns(std::move(slots));
  columns.push_back(proposed_column(std::move(member), "text", {{"role", "member"}}));
  columns.push_back(proposed_column(std::move(time), "timestamptz", {{"role", "score"}, {"format", "unix"}}));
  return proposed_table(std::move(name), "zset", std::move(key), std::move(columns));
}

std::optional<std::string_view> field_of(const KeySample& sample, std::string_view field) {
  if (sample.type != "hash") return std::nullopt;
  const auto part = std::ranges::find(sample.parts, field, [](const auto& pair) { return std::string_view(pair.first); });
  if (part == sample.parts.end()) return std::nullopt;
  return part->second;
}

bool has_fields(const KeySample& sample, std::initializer_list<std::string_view> fields) {
  return std::ranges::all_of(fields, [&](std::string_view field) { return field_of(sample, field).has_value(); });
}

std::string_view first_part(const KeySample& sample) {
  if (sample.parts.empty()) return {};
  return sample.type == "string" ? sample.parts[0].second : sample.parts[0].first;
}

bool has_members(std::string_view text, std::initializer_list<std::string_view> members) {
  return text.starts_with('{') && std::ranges::all_of(members, [&](std::string_view member) {
    return text.find("\"" + std::string(member) + "\":") != std::string_view::npos;
  });
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::optional<std::pair<std::string_view, std::string_view>> split_last(std::string_view text, char separator) {
  const std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

}  // namespace redquel::sql
