#pragma once

#include <map>
#include <vector>

#include "planner/physical/physical_planner.h"

namespace redquel::planner {

/// The best way to the rows of a mapped table: its keys where the conditions name them, a declared structure, or a scan of the keyspace.
Planned plan_mapped_access(const std::vector<LogicalColumn>& columns, const LogicalScan& scan,
                           const std::vector<sql::ExpressionPtr>& conditions, const Wish& wish, RuleChoices& rules);

/// The inner side of a join whose rows the outer rows find: by key, or by a declared set or lookup (MappedScan::Path). `values`: what the
/// join's equalities say of its columns. nullopt: they name neither, or the rows are found without them.
struct MappedJoinPath {
  MappedScan inner;
  std::vector<std::pair<std::int16_t, sql::ExpressionPtr>> keys;  // columns that each outer row gives, over the outer's columns
};
std::optional<MappedJoinPath> plan_mapped_join(const std::vector<LogicalColumn>& columns, const LogicalScan& scan,
                                               const std::vector<sql::ExpressionPtr>& conditions,
                                               const std::map<std::int16_t, sql::ExpressionPtr>& values);

}  // namespace redquel::planner
