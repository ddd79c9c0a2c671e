#pragma once

#include <optional>
#include <vector>

#include "planner/access/index_condition.h"

namespace redquel::planner {

/// The shortest list of values that an AND's equalities allow for a column, in `condition`; null: none.
const std::vector<sql::ExpressionPtr>* equal_values(const Condition& condition, std::int16_t column);

/// Every combination of the values that the equalities allow for the columns, in their order. nullopt: a column has none, or there are
/// more than `most`.
std::optional<std::vector<std::vector<sql::ExpressionPtr>>> value_product(const Condition& condition, const std::vector<std::int16_t>& columns,
                                                                          std::size_t most);

}  // namespace redquel::planner
