#pragma once

#include <cstdint>
#include <string_view>

namespace redquel::parser {

/// The demands of a text on its parser, measured before parsing.
struct TextShape {
  /// Levels of the deepest parse tree at most: parentheses, brackets, CASE, runs of operators, joins, set operations.
  /// libpg_query, protobuf and every consumer of the tree recurse this deep; libpg_query itself has no bound and
  /// overflows the stack.
  std::uint32_t depth = 0;
  /// Words, constants, operators, punctuation and comments, with an extra for each statement. Each costs up to 350
  /// bytes while the tree is made.
  std::uint32_t tokens = 0;
  /// The most columns of a `SET (a, b, …) = source`: protobuf writes the source as often.
  std::uint32_t widest_row_set = 0;
};

/// One pass, nothing is built. Reads literals, identifiers and comments as PostgreSQL's scanner does.
TextShape measure_shape(std::string_view text);

}  // namespace redquel::parser
