#pragma once

#include <optional>
#include <set>

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// `left = right` of a join condition, each side over one input only.
struct Equality {
  sql::ExpressionPtr left, right;
};
/// Returns the condition as an equality between columns of both inputs; nullopt: it is something else, or the type has no equality that hashes.
std::optional<Equality> match_equality(const sql::ExpressionPtr& condition, const std::set<ColumnId>& left, const std::set<ColumnId>& right);

}  // namespace redquel::planner
