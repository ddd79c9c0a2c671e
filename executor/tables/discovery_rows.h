#pragma once

#include <string_view>

#include "executor/redis/discovery_progress.h"
#include "sql/column.h"

namespace redquel::executor {

/// Returns the rows of redquel.discovery or redquel.left_out. `progress`: null: no discovery has run.
sql::Batch discovery_rows(std::string_view table, const DiscoveryProgress* progress);

}  // namespace redquel::executor
