#pragma once

#include "sql/system_tables/relations.h"

namespace redquel::sql {

/// Returns true for a partition, and for an index that is a part of the index of a partitioned table.
bool is_part_of_partitioned(const CatalogSnapshot& catalog, const Relation& relation);

}  // namespace redquel::sql
