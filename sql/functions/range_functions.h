#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

// Tables of ranges and multiranges, for registry.cc.

/// The constructors of a user-made range type, or of the multirange type over it: valid for the life of the process.
std::span<const ScalarFunction* const> range_constructors(Oid type);
/// The cast from a user-made range type to the multirange type over it.
const CastFunction& multirange_cast();

std::vector<ScalarFunction> range_functions();
std::vector<ScalarFunction> range_operators();
std::vector<CastFunction> range_casts();
std::vector<AggregateFunction> range_aggregates();
std::vector<TableFunction> range_table_functions();

}  // namespace redquel::sql
