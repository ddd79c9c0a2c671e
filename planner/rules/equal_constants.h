#pragma once

#include <vector>

#include "sql/expressions/expression.h"

namespace redquel::planner {

/// Returns the consequences of conditions that hold together: a = b and b = 5 imply a = 5, which an index may answer. `equalities` may add
/// equal expressions, but no constants.
std::vector<sql::ExpressionPtr> equal_constants(const std::vector<sql::ExpressionPtr>& conditions,
                                                const std::vector<sql::ExpressionPtr>& equalities = {});

}  // namespace redquel::planner
