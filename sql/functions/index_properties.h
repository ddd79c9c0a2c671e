#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

/// pg_index_column_has_property() and its like.
std::vector<ScalarFunction> index_properties();

}  // namespace redquel::sql
