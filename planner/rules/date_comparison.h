#pragma once

#include "sql/expressions/expression.h"

namespace redquel::planner {

/// Returns a comparison of a date with a constant timestamp as a comparison of two dates, which indexes and packed columns know; any other
/// condition as it is.
sql::ExpressionPtr with_date_comparison(const sql::ExpressionPtr& condition);

}  // namespace redquel::planner
