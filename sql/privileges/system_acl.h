#pragma once

#include <utility>

#include "sql/functions/object_description.h"
#include "sql/privileges/object_acl.h"

namespace redquel::sql {

// Keys of CatalogSnapshot::system_acls: class and oid of an object. A column of a system table is an object of the class pg_attribute; its
// number is made of the table's oid and the column's number.

inline constexpr Oid kColumnClass = 1249;
inline constexpr unsigned kColumnBits = 16;

/// Returns the key of an object of the system.
inline std::pair<Oid, Oid> system_acl_key(const ObjectAddress& object) {
  if (object.column == 0) return {object.catalog, object.object};
  return {kColumnClass, object.object << kColumnBits | static_cast<Oid>(object.column)};
}

/// Returns the object of a key.
inline ObjectAddress system_acl_object(const std::pair<Oid, Oid>& key) {
  if (key.first != kColumnClass) return {key.first, key.second};
  return {catalog_class::kRelations, key.second >> kColumnBits, static_cast<std::int32_t>(key.second & ((1U << kColumnBits) - 1))};
}

}  // namespace redquel::sql
