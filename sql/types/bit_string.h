#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

// bit(n) and bit varying(n): in memory, as in text, the digits 0 and 1, whose order is the type's.

/// '101', 'B101' or 'X1F'. 22P02 `"2" is not a valid binary digit`.
std::string parse_bits(std::string_view text);
/// int4 → bit(n): the lower bits of the number; the sign fills what is left. bit → int8: 22003 where it does not fit.
std::string bits_of_integer(std::int64_t number, std::int32_t length);

}  // namespace redquel::sql
