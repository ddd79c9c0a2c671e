#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// (percentage real, seed double precision, parts of the row's identity …): true for so many of a hundred rows. The same rows of the same
/// seed, or, if not `repeatable`, of the same statement and number of the clause. 2202H, 2202G
const ScalarFunction& table_sample(bool repeatable);

}  // namespace redquel::sql
