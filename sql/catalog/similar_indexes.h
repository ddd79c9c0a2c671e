#pragma once

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// Returns true if both indexes are over the same columns and expressions in the same way, whatever they are called: one of a partition can be a
/// part of one of its table.
bool are_alike(const IndexDef& one, const IndexDef& other);
/// Returns the first index of the table that is like the other one; nullptr: there is none.
const IndexDef* index_like(const TableDef& table, const IndexDef& wanted);

}  // namespace redquel::sql
