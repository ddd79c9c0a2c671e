#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/column.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// A batch of outer rows and the inner rows that were looked up for it, both by the numbers of the keys they belong to.
struct LookupRows {
  const sql::Batch &outer, &inner;
  const std::vector<std::optional<std::size_t>>& key_of_outer;  // nullopt: a key with NULL
  const std::vector<std::size_t>& keys_of_inner;
  std::size_t key_count;
};

/// The joined rows of the batch: an inner, left, semi or anti join under the whole join condition (null: none).
sql::Batch pair_up(planner::JoinKind kind, const sql::ExpressionPtr& residual, const LookupRows& rows, const sql::EvaluationContext& context);

}  // namespace redquel::executor
