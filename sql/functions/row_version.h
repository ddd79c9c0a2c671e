#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// The number for xmin: 32 bits computed from all values of a row, so that a client detects a change of the row since its read (optimistic
/// locking) by any writer. The first argument, and then the result, is NULL if an outer join found no row; the others are the row. At
/// least 3, like PostgreSQL's transaction numbers. Returns xid.
const ScalarFunction& row_version();

}  // namespace redquel::sql
