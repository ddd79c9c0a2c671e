#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

// The tables of bit strings, network addresses, time with time zone and text arrays; registry.cc puts them with the others
// (families.h).

std::vector<ScalarFunction> bit_string_functions();
std::vector<CastFunction> bit_string_casts();
std::vector<AggregateFunction> bit_string_aggregates();
std::vector<ScalarFunction> network_functions();
std::vector<ScalarFunction> hardware_address_functions();
std::vector<CastFunction> network_casts();
std::vector<AggregateFunction> network_aggregates();
std::vector<ScalarFunction> zoned_time_functions();
std::vector<CastFunction> zoned_time_casts();
std::vector<AggregateFunction> zoned_time_aggregates();
std::vector<ScalarFunction> text_piece_functions();
std::vector<TableFunction> text_piece_rows();
std::vector<ScalarFunction> privilege_functions();
std::vector<ScalarFunction> information_functions();
std::vector<ScalarFunction> geometric_functions();
std::vector<ScalarFunction> geometric_operators();
std::vector<CastFunction> geometric_casts();
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
std::vector<TableFunction> notification_rows();
std::vector<ScalarFunction> type_io_functions();
std::vector<ScalarFunction> tid_functions();
std::vector<AggregateFunction> tid_aggregates();
std::vector<ScalarFunction> column_size_functions();
std::vector<ScalarFunction> money_functions();
std::vector<CastFunction> money_casts();
std::vector<AggregateFunction> money_aggregates();
std::vector<ScalarFunction> statistics_functions();
std::vector<ScalarFunction> object_information_functions();
std::vector<ScalarFunction> connection_functions();
std::vector<TableFunction> object_information_rows();
/// The functions that have names beside their operators, over the rows of those.
std::vector<ScalarFunction> operator_functions(const std::vector<ScalarFunction>& functions);
std::vector<TableFunction> catalog_rows();
std::vector<TableFunction> privilege_rows();
std::vector<TableFunction> keyword_rows();
std::vector<TableFunction> zone_rows();

}  // namespace redquel::sql
