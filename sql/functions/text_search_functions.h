#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

std::vector<ScalarFunction> text_search_functions();
std::vector<TableFunction> text_search_rows();

}  // namespace redquel::sql
