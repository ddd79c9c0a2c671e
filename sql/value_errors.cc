#include "sql/value_errors.h"

#include <fmt/format.h>

#include "sql/sqlstate.h"

namespace redquel::sql {

SqlError number_out_of_range(std::string_view type) { return SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("{} out of range", type)); }

SqlError datetime_out_of_range(std::string_view type) { return SqlError(sqlstate::kDatetimeFieldOverflow, fmt::format("{} out of range", type)); }

SqlError datetime_out_of_range(std::string_view type, std::string_view text) {
  return SqlError(sqlstate::kDatetimeFieldOverflow, fmt::format("{} out of range: \"{}\"", type, text));
}

SqlError float_overflow() { return SqlError(sqlstate::kNumericValueOutOfRange, "value out of range: overflow"); }

SqlError float_underflow() { return SqlError(sqlstate::kNumericValueOutOfRange, "value out of range: underflow"); }

SqlError division_by_zero() { return SqlError(sqlstate::kDivisionByZero, "division by zero"); }

SqlError logarithm_of_zero() { return SqlError(sqlstate::kInvalidArgumentForLogarithm, "cannot take logarithm of zero"); }

SqlError logarithm_of_negative() { return SqlError(sqlstate::kInvalidArgumentForLogarithm, "cannot take logarithm of a negative number"); }

SqlError negative_substring_length() { return SqlError(sqlstate::kSubstringError, "negative substring length not allowed"); }

SqlError wrong_subscript_count() { return SqlError(sqlstate::kArraySubscriptError, "wrong number of array subscripts"); }

SqlError subscript_out_of_range() { return SqlError(sqlstate::kArraySubscriptError, "array subscript out of range"); }

SqlError invalid_text_of(std::string_view type, std::string_view text) {
  return SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type {}: \"{}\"", type, text));
}

SqlError unknown_type(std::uint32_t oid) { return SqlError(sqlstate::kInternalError, fmt::format("cache lookup failed for type {}", oid)); }

SqlError insufficient_message_data() { return SqlError(sqlstate::kProtocolViolation, "insufficient data left in message"); }

SqlError out_of_memory() { return SqlError(sqlstate::kOutOfMemory, "out of memory"); }

SqlError stack_depth_exceeded() { return SqlError(sqlstate::kStatementTooComplex, "stack depth limit exceeded"); }

SqlError too_many_table_columns() { return SqlError(sqlstate::kTooManyColumns, "tables can have at most 1600 columns"); }

SqlError too_many_index_columns() { return SqlError(sqlstate::kTooManyColumns, "cannot use more than 32 columns in an index"); }

}  // namespace redquel::sql
