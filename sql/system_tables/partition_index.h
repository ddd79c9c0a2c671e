#pragma once

#include "sql/system_tables/relations.h"

namespace redquel::sql {

/// Returns the index of a partitioned table that the index of its partition, or the index of the primary key, is a part of; 0: it is none.
Oid partitioned_index(const CatalogSnapshot& catalog, const TableDef& table, Oid index);
/// Returns true for a partition, and for an index that is a part of the index of a partitioned table.
bool is_part_of_partitioned(const CatalogSnapshot& catalog, const Relation& relation);

}  // namespace redquel::sql
