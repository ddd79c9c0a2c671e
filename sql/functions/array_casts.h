#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// From one array type to another, element by element as the elements' cast does it: for every pair of types, so no row of pg_cast.
const CastFunction& array_cast(bool stable);

}  // namespace redquel::sql
