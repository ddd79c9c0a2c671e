#include "sql/discovery/frameworks/entity_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "sql/ascii.h"
#include "sql/discovery/column_inference.h"
#include "sql/discovery/frameworks/framework_parts.h"
#include "sql/discovery/template_names.h"

namespace redquel::sql {

namespace {

/// Fields that make more columns than this are those of a map rather than of a class.
constexpr std::size_t kMostColumns = 200;

std::string_view id_of(const EntityKeys& entities, const KeySample& hash) { return std::string_view(hash.key).substr(entities.prefix.size()); }

/// Fields in the order in which the hashes show them, those of all of them first.
std::vector<std::string> fields_of(const EntityKeys& entities) {
  std::vector<std::string> order;
  std::map<std::string, std::size_t> seen;
  for (const KeySample* hash : entities.hashes) {
    for (const auto& [field, value] : hash->parts) {
      if (seen[field]++ == 0) order.push_back(field);
    }
  }
  std::ranges::stable_sort(order, {}, [&](const std::string& field) { return std::pair(entities.hashes.size() - seen[field], field); });
  if (order.size() > kMostColumns) order.resize(kMostColumns);
  return order;
}

bool repeats_id(const EntityKeys& entities, std::string_view field) {
  return std::ranges::all_of(entities.hashes, [&](const KeySample* hash) { return field_of(*hash, field) == id_of(entities, *hash); });
}

ProposedColumn inferred(const EntityKeys& entities, const std::string& field, std::set<std::string>& taken) {
  const std::string name = unique_name(column_name(field), taken);
  std::vector<std::optional<std::string>> values;
  for (const KeySample* hash : entities.hashes) {
    const auto value = field_of(*hash, field);
    values.push_back(value ? std::optional(std::string(*value)) : std::nullopt);
  }
  const InferredColumn type = infer_column(name, values, false);
  ProposedColumn column{.name = name, .type = type.type, .not_null = false, .doubt = type.doubt};
  if (name != field) column.options.emplace_back("field", field);
  if (!type.format.empty()) column.options.emplace_back("format", type.format);
  if (type.empties_are_null) column.options.emplace_back("absent", "empty");
  return column;
}

}  // namespace

ProposedTable entity_table(const EntityKeys& entities) {
  std::set<std::string> taken{"id"};
  ProposedColumn id = proposed_column("id", "text");
  id.not_null = true;
  std::vector<ProposedColumn> columns;
  for (const std::string& field : fields_of(entities)) {
    if (id.options.empty() && repeats_id(entities, field)) id.options.emplace_back("field", field);
    else columns.push_back(inferred(entities, field, taken));
  }
  columns.insert(columns.begin(), std::move(id));
  return proposed_table(entity_table_name(entities.prefix), "hash", template_literal(entities.prefix) + "{id}", std::move(columns));
}

std::string entity_table_name(std::string_view prefix) {
  while (prefix.ends_with(':')) prefix.remove_suffix(1);
  const std::size_t separator = prefix.find_last_of(":.");
  std::string name = column_name(separator == std::string_view::npos ? prefix : prefix.substr(separator + 1));
  std::ranges::transform(name, name.begin(), to_lower);
  return name;
}

std::vector<EntityKeys> entities_of(std::span<const KeySample> keys, const std::function<std::size_t(const KeySample&)>& id_start) {
  std::map<std::string, EntityKeys> groups;
  for (const KeySample& key : keys) {
    const std::size_t start = key.type == "hash" ? id_start(key) : std::string::npos;
    if (start == std::string::npos || start == 0 || start >= key.key.size()) continue;
    EntityKeys& group = groups[key.key.substr(0, start)];
    group.prefix = key.key.substr(0, start);
    group.hashes.push_back(&key);
  }
  std::vector<EntityKeys> entities;
  for (auto& [prefix, group] : groups) entities.push_back(std::move(group));
  return entities;
}

}  // namespace redquel::sql
