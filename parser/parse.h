#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "parser/ast.h"

namespace redquel::parser {

/// The limits of parse() before and after PostgreSQL's grammar.
struct ParseLimits {
  /// Bytes of the whole text; more is 54000.
  std::size_t text_bytes = std::size_t{64} << 20;
  /// Words, constants and punctuation; more is 54000. It bounds the memory of the tree.
  std::uint32_t tokens = 2'000'000;
  /// Levels of the tree: parentheses, operator runs (`1+1+1…`), joins, set operations; more is 54001. AND and OR lists,
  /// IN lists, VALUES rows and target lists are flat and not bounded by it.
  std::uint32_t depth = 3000;
};

struct ParsedStatement {
  std::shared_ptr<ast::Statement> statement;  // never null
  /// The statement's own bytes in the text, without the semicolon and surrounding space.
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

/// The statements of a text, in order; empty ones (`;;`, comments) leave no trace. Offsets in the statements count from
/// the start of the whole text. Throws SqlError: 42601 and the grammar's other errors in PostgreSQL's words with
/// position, 0A000 for XML expressions, 54000 and 54001 for the limits. Safe to call from any number of threads.
std::vector<ParsedStatement> parse(std::string_view text, const ParseLimits& limits = {});

/// Returns the bytes that parse() needs at most while it makes the tree of a text.
std::size_t parse_memory(std::string_view text);

/// The only statement of a text that redquel wrote itself or has parsed before. Throws like parse().
std::shared_ptr<const ast::Statement> parse_statement(std::string_view text);

/// A single expression, as the catalog stores it (the output of to_sql). Its offsets are kExpressionOffset too large. Throws like
/// parse().
inline constexpr std::uint32_t kExpressionOffset = 7;  // of "SELECT "
ast::ExpressionPtr parse_expression(std::string_view text);

/// A type's name as written in a cast: `numeric(10,2)[]`. Its offsets mean nothing. Throws like parse().
ast::TypeName parse_type_name(std::string_view text);

/// PostgreSQL's command tag without row counts: "CREATE TABLE", "SELECT", "DROP INDEX". For Unsupported its name; the
/// result lives as long as the statement.
std::string_view command_tag(const ast::Statement& statement);

}  // namespace redquel::parser
