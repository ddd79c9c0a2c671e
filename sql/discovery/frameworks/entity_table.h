#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/discovery/frameworks/framework.h"

namespace redquel::sql {

/// Entities of a mapper: hashes `<prefix><id>` whose fields are the attributes of a class.
struct EntityKeys {
  std::string prefix;                    // what stands before the id, its separator included
  std::vector<const KeySample*> hashes;
};

/// Returns a table with a column `id` and one for each field, with the types that the sampled values have. A field that repeats the id belongs to the
/// column `id`.
ProposedTable entity_table(const EntityKeys& entities);

/// Returns a name for the table of the class `com.acme.Person` or of the prefix `Person:`.
std::string entity_table_name(std::string_view prefix);

/// Groups the hashes that `id_start` accepts by what stands before their id. `id_start` returns the place of the id in a key, npos for a key of
/// another form.
std::vector<EntityKeys> entities_of(std::span<const KeySample> keys, const std::function<std::size_t(const KeySample&)>& id_start);

}  // namespace redquel::sql
