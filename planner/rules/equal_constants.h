#pragma once

#include <vector>

#include "sql/expressions/expression.h"

namespace redquel::planner {

/// What follows from conditions that hold together: of a = b and b = 5 that a = 5, which an index may answer. `equalities` may add to what
/// is equal, but no constants.
std::vector<sql::ExpressionPtr> equal_constants(const std::vector<sql::ExpressionPtr>& conditions,
                                                const std::vector<sql::ExpressionPtr>& equalities = {});

}  // namespace redquel::planner
