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
/// Returns false for types whose `=` is no equality: that of boxes compares areas. Their texts cannot be hashed or looked up.
bool has_equality(sql::Type type);

}  // namespace redquel::planner
