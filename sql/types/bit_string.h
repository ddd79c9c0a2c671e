#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

// bit(n) and bit varying(n): in memory, as in text, the digits 0 and 1, whose order is the type's.

/// '101', 'B101' or 'X1F'. 22P02 `"2" is not a valid binary digit`.
std::string parse_bits(std::string_view text);
/// The length coercion. Explicit casts cut or fill at the right; else 22026, 22001.
std::string fit_bits(Type type, std::string bits, bool is_explicit);
/// The binary format: a count and the bits, eight to a byte.
std::string unpack_bits(std::size_t count, std::string_view bytes);
std::string pack_bits(std::string_view bits);
/// int4 → bit(n): the lower bits of the number; the sign fills what is left. bit → int8: 22003 where it does not fit.
std::string bits_of_integer(std::int64_t number, std::int32_t length);

}  // namespace redquel::sql
