#pragma once

#include <vector>

#include "planner/tree/logical_plan.h"

namespace redquel::planner {

/// The numbers of relations in the order in which inner joins under these conditions take them, from left to right. Where the tables have
/// been counted, one that is guessed to read and to join few rows; else as they are written, but without needless cross products.
std::vector<std::size_t> join_order(const std::vector<LogicalPtr>& relations, const std::vector<sql::ExpressionPtr>& conditions);

}  // namespace redquel::planner
