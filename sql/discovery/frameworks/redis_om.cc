#include <algorithm>

#include "sql/discovery/frameworks/entity_table.h"
#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::size_t kUlidLength = 26;
constexpr std::string_view kUlidLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";  // of Crockford's base 32
constexpr std::string_view kIndexHash = "index:hash";

/// Returns the place of the ULID at the end of the key.
std::size_t ulid_start(const KeySample& key) {
  if (key.key.size() <= kUlidLength + 1) return std::string::npos;
  const std::size_t start = key.key.size() - kUlidLength;
  const std::string_view id = std::string_view(key.key).substr(start);
  const bool is_ulid = id.front() <= '7' && id.find_first_not_of(kUlidLetters) == std::string_view::npos && id.find_first_not_of("0123456789") != std::string_view::npos;
  return is_ulid && key.key[start - 1] == ':' ? start : std::string::npos;
}

}  // namespace

/// Redis OM keeps an entity as a hash `<prefix>:<ULID>`, and the state of its search index as a string `<prefix>:index:hash`. Entities as JSON documents
/// are values of a module, which is no part of plain Redis.
std::vector<FoundFramework> recognise_redis_om(std::span<const KeySample> keys) {
  std::vector<FoundFramework> found;
  for (const EntityKeys& entities : entities_of(keys, ulid_start)) {
    const std::string name = entities.prefix.substr(0, entities.prefix.size() - 1);
    found.push_back(found_framework("Redis OM", "redis_om", "Redis OM: entities with the prefix " + name));
    ProposedTable table = entity_table(entities);
    table.comment = "Redis OM: entities with the prefix " + name;
    found.back().proposal.tables.push_back(std::move(table));
    found.back().owns = [prefix = entities.prefix](const KeySample& key) {
      if (key.key == prefix + std::string(kIndexHash)) return key.type == "string";
      return key.type == "hash" && key.key.starts_with(prefix) && ulid_start(key) == prefix.size();
    };
  }
  return found;
}

}  // namespace redquel::sql
