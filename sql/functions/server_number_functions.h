#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

// The tables of pg_lsn, xid, xid8 and cid, for registry.cc.

std::vector<ScalarFunction> server_number_functions();
std::vector<TableFunction> server_number_rows();
std::vector<CastFunction> server_number_casts();
std::vector<AggregateFunction> server_number_aggregates();

}  // namespace redquel::sql
