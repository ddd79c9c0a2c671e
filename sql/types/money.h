#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::sql {

// money: hundredths, read and printed as lc_monetary = C has them: -$1,234.50.

/// 22P02 "invalid input syntax for type money: "x"", 22003 "value "x" is out of range for type money".
std::int64_t parse_money(std::string_view text);
void append_money(std::int64_t hundredths, std::string& out);

/// "One dollar and two cents"
void append_money_words(std::int64_t hundredths, std::string& out);

}  // namespace redquel::sql
