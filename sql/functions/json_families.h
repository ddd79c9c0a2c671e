#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

// The tables of json, jsonb and jsonpath; registry.cc puts them with the others (families.h).

std::vector<ScalarFunction> json_access_functions();
std::vector<ScalarFunction> jsonb_change_functions();
std::vector<ScalarFunction> json_build_functions();
std::vector<ScalarFunction> jsonpath_functions();
std::vector<CastFunction> json_casts();
std::vector<AggregateFunction> json_aggregates();
std::vector<TableFunction> json_table_functions();
std::vector<TableFunction> jsonpath_table_functions();

}  // namespace redquel::sql
