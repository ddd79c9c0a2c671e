#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// The number that stands for xmin: 32 bits made of all values of a row, so that a client sees whether the row has changed since it
/// read it (optimistic locking), whoever changed it. The first argument is NULL where an outer join found no row, and so is the result;
/// the others are the row. At least 3, as PostgreSQL's numbers of transactions are. Gives xid.
const ScalarFunction& row_version();

}  // namespace redquel::sql
