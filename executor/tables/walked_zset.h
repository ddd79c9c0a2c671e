#pragma once

#include <cstdint>
#include <optional>

#include "executor/tables/zset_walk.h"
#include "planner/access/ordered_source.h"
#include "planner/tree/table_read.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// A zset in the order of a column, and the rows beside it whose column is NULL.
struct WalkedZset {
  planner::OrderedSource source;
  NullRows nulls;
};

/// Returns the zset of all rows, or that of the leading values. nullopt: no row can have these values.
std::optional<WalkedZset> walked_zset(const sql::TableDef& table, const planner::LeadingValues& leading, std::int16_t column,
                                      const sql::EvaluationContext& context);

}  // namespace redquel::executor
