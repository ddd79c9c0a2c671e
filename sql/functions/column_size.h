#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// pg_column_size() of a table's column, whose short values have a header of one byte. That of other values has four.
const ScalarFunction& stored_column_size();

}  // namespace redquel::sql
