// Texts of any bytes: the tokens are not empty, lie inside the text, and follow one another.

#include <cstdint>
#include <cstdlib>

#include "sql/text_search/token_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using redquel::sql::text_search::TokenParser;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TokenParser parser(text);
  std::size_t end = 0;  // of the furthest token
  while (const auto token = parser.next()) {
    const auto begin = static_cast<std::size_t>(token->text.data() - text.data());
    if (token->text.empty() || begin > end || begin + token->text.size() > size) std::abort();
    if (begin + token->text.size() > end) end = begin + token->text.size();
  }
  return 0;
}
