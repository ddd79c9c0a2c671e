#pragma once

#include <set>
#include <string>
#include <string_view>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

// The choice of the first key part of a new table or sequence, and of the hash field of a new column. A prefix or field stays taken while
// a byte of it may exist in Redis, so that a second `emp` never reads the rows of the first.

/// Prefixes that are taken: of live tables and sequences, of what is being removed, and redquel's own.
using ReservedPrefixes = std::set<std::string, std::less<>>;

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
