#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// `SET column['a'][1] = value` of a jsonb column: (column, whether the first subscript is a number, value, subscript as text, …). What is
/// missing on the way is made (manual 8.14.5). 22004 for a NULL subscript, 22023 where a scalar stands in the way.
const ScalarFunction& jsonb_with_part();

}  // namespace redquel::sql
