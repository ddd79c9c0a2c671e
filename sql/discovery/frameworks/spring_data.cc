#include <algorithm>
#include <set>

#include "sql/discovery/frameworks/entity_table.h"
#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::string_view kPhantom = ":phantom", kNotes = ":idx";

/// Returns the place of the id in the key of an entity. Its copy, which lives on for a while once the entity has expired, is none.
std::size_t spring_id(const KeySample& key) {
  if (!field_of(key, "_class") || key.key.ends_with(kPhantom)) return std::string::npos;
  const std::size_t colon = key.key.rfind(':');
  return colon == std::string::npos ? colon : colon + 1;
}

/// Returns the option `field` of the column; the column's name without it.
std::string field_name(const ProposedColumn& column) {
  const auto option = std::ranges::find(column.options, "field", &std::pair<std::string, std::string>::first);
  return option == column.options.end() ? column.name : option->second;
}

/// Returns the part of a set's key that names the property, if it is one of the sets `<keyspace>:<property>:<value>` of ids.
std::string_view indexed_property(std::string_view key, std::string_view prefix) {
  const std::string_view rest = key.substr(prefix.size());
  const std::size_t colon = rest.find(':');
  return colon == std::string_view::npos ? std::string_view() : rest.substr(0, colon);
}

FoundFramework spring_data(const EntityKeys& entities, std::span<const KeySample> keys) {
  const std::string keyspace = entities.prefix.substr(0, entities.prefix.size() - 1);
  FoundFramework found = found_framework("Spring Data Redis", "spring_data", "Spring Data Redis: entities of the keyspace " + keyspace);
  ProposedTable table = entity_table(entities);
  table.comment = "Spring Data Redis: entities of the keyspace " + keyspace;
  std::set<std::string, std::less<>> indexed;
  for (const KeySample& key : keys) {
    const bool is_set = key.type == "set" && key.key.starts_with(entities.prefix) && !key.key.ends_with(kNotes);
    if (is_set) indexed.emplace(indexed_property(key.key, entities.prefix));
  }
  for (const ProposedColumn& column : table.columns) {
    const std::string field = field_name(column);
    if (column.name == "id" || !indexed.contains(field) || column.type != "text") continue;
    table.indexes.push_back({"set", {column.name}, template_literal(entities.prefix + field) + ":{" + column.name + "}", {}});
  }
  table.maintained = "application";
  ProposedTable ids = proposed_table(table.name + "_id", "set", template_literal(keyspace), {proposed_column("id", "text", {{"role", "member"}})});
  found.proposal.tables.push_back(std::move(table));
  found.proposal.tables.push_back(std::move(ids));
  found.owns = [prefix = entities.prefix, keyspace](const KeySample& key) {
    if (key.key == keyspace) return key.type == "set";
    if (!key.key.starts_with(prefix)) return false;
    return key.type == "set" || key.type == "zset" || field_of(key, "_class").has_value();
  };
  return found;
}

}  // namespace

/// Spring Data Redis keeps an entity as a hash `<keyspace>:<id>` with its class in the field `_class`, all ids in the set `<keyspace>`, the ids
/// with a value of an indexed property in the set `<keyspace>:<property>:<value>`, and the names of these sets in `<keyspace>:<id>:idx`.
std::vector<FoundFramework> recognise_spring_data(std::span<const KeySample> keys) {
  std::vector<FoundFramework> found;
  for (const EntityKeys& entities : entities_of(keys, spring_id)) found.push_back(spring_data(entities, keys));
  return found;
}

}  // namespace redquel::sql
