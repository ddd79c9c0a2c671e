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
std::vector<ScalarFunction> bit_string_functions();
std::vector<ScalarFunction> network_functions();
std::vector<ScalarFunction> hardware_address_functions();
std::vector<ScalarFunction> zoned_time_functions();
std::vector<ScalarFunction> text_piece_functions();
std::vector<ScalarFunction> privilege_functions();
std::vector<ScalarFunction> information_functions();
std::vector<ScalarFunction> geometric_functions();
std::vector<ScalarFunction> geometric_operators();
std::vector<ScalarFunction> privilege_checks();
std::vector<ScalarFunction> size_functions();
std::vector<ScalarFunction> hash_functions();
std::vector<ScalarFunction> transition_functions();
std::vector<ScalarFunction> recovery_functions();
std::vector<ScalarFunction> setting_flag_functions();
std::vector<ScalarFunction> three_way_functions();
std::vector<ScalarFunction> record_image_functions();
std::vector<ScalarFunction> binary_form_functions();
std::vector<ScalarFunction> unicode_functions();
std::vector<ScalarFunction> notification_functions();
std::vector<ScalarFunction> type_io_functions();
std::vector<ScalarFunction> tid_functions();
std::vector<ScalarFunction> column_size_functions();
std::vector<ScalarFunction> money_functions();
std::vector<ScalarFunction> statistics_functions();
std::vector<ScalarFunction> object_information_functions();
std::vector<ScalarFunction> connection_functions();
std::vector<ScalarFunction> signal_functions();
/// The functions that have names beside their operators, over the rows of those.
std::vector<ScalarFunction> operator_functions(const std::vector<ScalarFunction>& functions);

std::vector<CastFunction> number_casts();
std::vector<CastFunction> datetime_casts();
std::vector<CastFunction> text_casts();
std::vector<CastFunction> name_casts();
std::vector<CastFunction> array_casts();
std::vector<CastFunction> bit_string_casts();
std::vector<CastFunction> network_casts();
std::vector<CastFunction> zoned_time_casts();
std::vector<CastFunction> geometric_casts();
std::vector<CastFunction> money_casts();

std::vector<AggregateFunction> number_aggregates();
std::vector<AggregateFunction> ordered_aggregates();
std::vector<AggregateFunction> ordered_set_aggregates();
std::vector<AggregateFunction> text_and_boolean_aggregates();
std::vector<AggregateFunction> variance_aggregates();
std::vector<AggregateFunction> array_aggregates();
std::vector<AggregateFunction> bit_string_aggregates();
std::vector<AggregateFunction> network_aggregates();
std::vector<AggregateFunction> zoned_time_aggregates();
std::vector<AggregateFunction> tid_aggregates();
std::vector<AggregateFunction> money_aggregates();

std::vector<TableFunction> series_functions();
std::vector<TableFunction> array_table_functions();
std::vector<TableFunction> engine_functions();
std::vector<TableFunction> text_piece_rows();
std::vector<TableFunction> notification_rows();
std::vector<TableFunction> object_information_rows();
std::vector<TableFunction> catalog_rows();
std::vector<TableFunction> privilege_rows();
std::vector<TableFunction> keyword_rows();
std::vector<TableFunction> zone_rows();

}  // namespace redquel::sql
