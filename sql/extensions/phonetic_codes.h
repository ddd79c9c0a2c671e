#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

// Codes of how English words sound. Only ASCII letters count.

/// Returns a letter and three digits; empty: the text has no letter.
std::string soundex_code(std::string_view text);

/// Returns Lawrence Philips' metaphone with at most so many letters.
std::string metaphone_code(std::string_view text, std::size_t length);

}  // namespace redquel::sql
