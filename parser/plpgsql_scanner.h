#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::parser::plpgsql {

/// A token of a body. The lexical rules are those of SQL, with `:=` and `..`.
struct Token {
  enum class Kind : std::uint8_t { kWord, kQuoted, kString, kNumber, kParameter, kSymbol, kEnd } kind = Kind::kEnd;
  std::uint32_t offset = 0, length = 0;
  std::string value;  // kWord: lower case; kQuoted and kString: without quotes; else as written

  bool is_name() const { return kind == Kind::kWord || kind == Kind::kQuoted; }
  bool is_word(std::string_view word) const { return kind == Kind::kWord && value == word; }
  bool is_symbol(std::string_view symbol) const { return kind == Kind::kSymbol && value == symbol; }
};

/// The tokens of a body; the last is kEnd. 42601 for strings and comments without an end.
std::vector<Token> scan(std::string_view body);

}  // namespace redquel::parser::plpgsql
