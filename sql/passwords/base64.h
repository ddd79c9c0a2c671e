#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redquel::sql {

std::string encode_base64(std::string_view bytes);
/// Reads base64 with its padding, without blanks or line ends, as RFC 5802 has it. nullopt: the text is none.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace redquel::sql
