#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

// Tables of ranges and multiranges, for registry.cc.

std::vector<ScalarFunction> range_functions();
std::vector<ScalarFunction> range_operators();
std::vector<CastFunction> range_casts();
std::vector<AggregateFunction> range_aggregates();
std::vector<TableFunction> range_table_functions();

}  // namespace redquel::sql
