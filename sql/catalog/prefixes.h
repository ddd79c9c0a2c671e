#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/catalog/shared_map.h"

namespace redquel::sql {

// The choice of the first key part of a new table or sequence, and of the hash field of a new column. A prefix or field stays taken while
// a byte of it may exist in Redis, so that a second `emp` never reads the rows of the first.

/// Prefixes that are taken: of live tables and sequences, of what is being removed, and redquel's own. Copies share what they have in common.
class ReservedPrefixes {
 public:
  /// Returns false if the prefix is there already.
  bool insert(const std::string& prefix);
  void erase(const std::string& prefix);
  bool contains(const std::string& prefix) const;
  /// Returns true if prefixes_collide() for one of them.
  bool collide(std::string_view prefix) const;
  std::vector<std::string> all() const;

 private:
  SharedMap<std::pair<std::string, std::string>, std::monostate> prefixes_;  // without the tag of a bucket, and with it
};

/// Equal, or one is the other and further segments: then a key of one could be a key of the other. Tags of buckets do not count, so a table
/// may move to another bucket.
bool prefixes_collide(std::string_view a, std::string_view b);

/// `emp`, in another schema than public `sys:user`; with `~2`, `~3`… behind the name (or, where another table already is that
/// schema's segment, behind the schema) while it collides. Without the tag of a bucket.
std::string choose_prefix(std::string_view schema, std::string_view name, const ReservedPrefixes& reserved);

/// The hash field of a new column: its name, with `~2`, `~3`… while another column has or had that field.
std::string choose_field(const TableDef& table, std::string_view column_name);

/// The field that marks a NULL in a column added with a default (ColumnDef::missing).
std::string null_marker(const ColumnDef& column);
/// The field of the hidden key, where it is stored.
inline constexpr std::string_view kHiddenKeyField = "%rowid";

}  // namespace redquel::sql
