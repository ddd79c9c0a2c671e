#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::sql {

// tid: where a row lies, (block,offset). Here the number of its key, of which these are the upper 32 and the lower 16 bits.

/// 22P02 "invalid input syntax for type tid: "x"".
std::int64_t parse_tid(std::string_view text);
/// 0A000 for a number of more than 48 bits, which no tid can represent.
void append_tid(std::int64_t number, std::string& out);

}  // namespace redquel::sql
