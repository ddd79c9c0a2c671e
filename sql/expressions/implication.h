#pragma once

#include <vector>

#include "sql/expressions/expression.h"

namespace redquel::sql {

/// Returns true if the conditions imply every conjunct of the predicate: a conjunct is one of them, or it follows from a comparison of the
/// same value with a constant.
bool implies_all(const std::vector<ExpressionPtr>& conditions, const ExpressionPtr& predicate);

}  // namespace redquel::sql
