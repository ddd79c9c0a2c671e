#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

// Text of integers, floats and booleans, the way PostgreSQL's input functions read it: blanks around are allowed;
// 22P02 `invalid input syntax for type integer: "x"`, 22003 `value "x" is out of range for type integer`.

std::int16_t parse_int2(std::string_view text);
std::int32_t parse_int4(std::string_view text);
std::int64_t parse_int8(std::string_view text);
/// oid and its relatives: -1 is 4294967295; the result is the bit pattern.
std::int32_t parse_oid(std::string_view text);
float parse_float4(std::string_view text);
double parse_float8(std::string_view text);
bool parse_bool(std::string_view text);

void append_integer(std::int64_t value, std::string& out);
/// Shortest exact text, as PostgreSQL ≥ 12: 1e+20, 1.5e-07, Infinity. extra_float_digits ≤ 0 rounds to 15 (6) digits
/// plus that many.
void append_float4(float value, int extra_float_digits, std::string& out);
void append_float8(double value, int extra_float_digits, std::string& out);

/// `text` without PostgreSQL's blanks (isspace of the C locale) at both ends.
std::string_view trim_blanks(std::string_view text);

}  // namespace redquel::sql
