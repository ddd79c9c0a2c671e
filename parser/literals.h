#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::parser {

/// A constant taken out of a statement's text: a string's content, or an integer with its sign.
struct Literal {
  bool is_string = false;
  std::string text;
  std::int64_t number = 0;
};

/// A statement in which parameters stand for constants: what programs send again and again with other values.
struct TextWithoutLiterals {
  std::string text;
  std::vector<Literal> literals;  // of $1, $2, …
};

/// Puts $1, $2, … in the place of constants whose role a parameter of the same type can take: operands of comparisons, of BETWEEN and of
/// + and -, members of an IN list, values of an INSERT of one row. All others stay (of LIMIT, of ORDER BY 1, of types, patterns,
/// intervals): they are part of what the statement means. Nullopt: nothing to take, or a text that this scanner leaves to the parser
/// (comments, dollar quotes, escapes, several statements, anything but SELECT, INSERT, UPDATE, DELETE and WITH).
std::optional<TextWithoutLiterals> take_literals(std::string_view text);

}  // namespace redquel::parser
