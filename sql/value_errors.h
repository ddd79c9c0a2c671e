#pragma once

#include <cstdint>
#include <string_view>

#include "sql/error.h"

namespace redquel::sql {

// Errors about values, and about limits that a statement reaches. Each has PostgreSQL's wording and SQLSTATE.

// ---- values ----

SqlError number_out_of_range(std::string_view type);                           // 22003: "integer out of range"
SqlError datetime_out_of_range(std::string_view type);                         // 22008: "timestamp out of range"
SqlError datetime_out_of_range(std::string_view type, std::string_view text);  // 22008: "timestamp out of range: "…""
SqlError float_overflow();                                                     // 22003
SqlError float_underflow();                                                    // 22003
SqlError division_by_zero();                                                   // 22012
SqlError logarithm_of_zero();                                                  // 2201E
SqlError logarithm_of_negative();                                              // 2201E
SqlError negative_substring_length();                                          // 22011
SqlError wrong_subscript_count();                                              // 2202E
SqlError subscript_out_of_range();                                             // 2202E
SqlError invalid_text_of(std::string_view type, std::string_view text);        // 22P02: the input function refuses the text

SqlError unknown_type(std::uint32_t oid);                                      // XX000: "cache lookup failed for type …"

// ---- messages of the client ----

SqlError insufficient_message_data();  // 08P01: a value ends before its last field

// ---- limits ----

SqlError out_of_memory();           // 53200; the caller adds the limit as detail
SqlError stack_depth_exceeded();    // 54001
SqlError too_many_table_columns();  // 54011
SqlError too_many_index_columns();  // 54011

}  // namespace redquel::sql
