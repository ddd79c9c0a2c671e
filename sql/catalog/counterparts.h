#pragma once

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// Returns true if both indexes are over the same columns and expressions in the same way, whatever they are called: one of a partition can be a
/// part of one of its table.
bool are_alike(const IndexDef& one, const IndexDef& other);
/// Returns the first index of the table that is like the other one; nullptr: there is none.
const IndexDef* index_like(const TableDef& table, const IndexDef& wanted);
/// Returns the index of the other table, above or below it in a tree of partitions, that belongs to the index of the table. Of several that are
/// alike, the first belongs to the first. nullptr: there is none.
const IndexDef* counterpart(const TableDef& table, const IndexDef& index, const TableDef& other);
/// Likewise for foreign keys: those over the same columns that refer to the same ones with the same actions belong together.
const ForeignKeyDef* counterpart(const TableDef& table, const ForeignKeyDef& key, const TableDef& other);
/// Returns the foreign key of a partitioned table that the foreign key of its partition is a part of; nullptr: it is none.
const ForeignKeyDef* inherited_foreign_key(const CatalogSnapshot& catalog, const TableDef& partition, const ForeignKeyDef& key);
/// Returns the index of a partitioned table that the index of its partition, or the index of the primary key, is a part of; 0: it is none.
Oid partitioned_index(const CatalogSnapshot& catalog, const TableDef& partition, Oid index);

}  // namespace redquel::sql
