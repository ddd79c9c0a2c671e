#pragma once

#include <vector>

#include "executor/tables/mapped_reader.h"

namespace redquel::executor {

/// All combinations of the values that columns are fixed to, each once; one without values where none is fixed. Values that no row can
/// have (NULL, out of the column's range) are left out.
std::vector<MappedKey> fixed_keys(const std::vector<planner::MappedScan::Fixed>& fixed, const sql::TableDef& table,
                                  const sql::EvaluationContext& context);

}  // namespace redquel::executor
