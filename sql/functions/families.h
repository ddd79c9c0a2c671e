#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

// The tables, one per family; registry.cc puts them together.

std::vector<ScalarFunction> comparison_functions();
std::vector<ScalarFunction> arithmetic_functions();
std::vector<ScalarFunction> math_functions();
std::vector<ScalarFunction> string_functions();
std::vector<ScalarFunction> bytea_functions();
std::vector<ScalarFunction> pattern_functions();
std::vector<ScalarFunction> format_functions();
std::vector<ScalarFunction> regexp_functions();
std::vector<ScalarFunction> datetime_functions();
std::vector<ScalarFunction> datetime_arithmetic_functions();
std::vector<ScalarFunction> to_char_functions();
std::vector<ScalarFunction> system_functions();
std::vector<ScalarFunction> catalog_functions();
std::vector<ScalarFunction> array_functions();

std::vector<CastFunction> number_casts();
std::vector<CastFunction> datetime_casts();
std::vector<CastFunction> text_casts();
std::vector<CastFunction> name_casts();
std::vector<CastFunction> array_casts();

std::vector<AggregateFunction> number_aggregates();
std::vector<AggregateFunction> ordered_aggregates();
std::vector<AggregateFunction> ordered_set_aggregates();
std::vector<AggregateFunction> text_and_boolean_aggregates();
std::vector<AggregateFunction> variance_aggregates();
std::vector<AggregateFunction> array_aggregates();

std::vector<TableFunction> series_functions();
std::vector<TableFunction> array_table_functions();
std::vector<TableFunction> engine_functions();

}  // namespace redquel::sql
