#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redquel::sql {

/// Returns the bytes of the character that the text begins with, if a line of text can show it: UTF-8, and neither a control character
/// nor one of direction, format or line (Unicode's categories Cc, Cf, Zl and Zp), nor unassigned. Otherwise 0.
std::size_t shown_character(std::string_view text);

/// Returns bytes of Redis for a message, a comment or a log: what cannot be shown is `\xHH`, and `…` stands for what is beyond `most` bytes.
std::string shown_text(std::string_view bytes, std::size_t most);

}  // namespace redquel::sql
