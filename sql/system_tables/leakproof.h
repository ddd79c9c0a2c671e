#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

// pg_proc.proleakproof: functions that reveal nothing of their arguments but by their result: no errors, no notices.

bool is_leakproof(const ScalarFunction& function);
bool is_leakproof(const CastFunction& cast);

}  // namespace redquel::sql
