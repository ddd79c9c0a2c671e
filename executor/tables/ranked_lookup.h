#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/context/execution_context.h"
#include "planner/physical/ranked_read.h"

namespace redquel::executor {

/// Rows with their ranks.
struct RankedBatch {
  sql::Batch rows;                               // the columns of the node's input
  std::vector<std::vector<std::int64_t>> ranks;  // for each rank of the node, of each row
};

/// Returns true if a score determines its value's order: a number below 2^53, or any finite one of a float type.
bool is_exact_score(sql::Type type, double score);
/// Returns the number that Redis writes a score as.
double score_number(std::string_view text);

/// Reads the rows of the node's input and their ranks by one command, or by one script. Rows of own tables are not checked against the
/// input's condition. nullopt: scores do not determine the order of the rows, or the script cannot make their keys.
asio::awaitable<std::optional<RankedBatch>> read_ranked(const planner::IndexRanks& ranks, const planner::RankedRead& how, ExecutionContext& context,
                                                        ExecutionCounters* counters);

}  // namespace redquel::executor
