#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parser/ast.h"

namespace redquel::parser {

/// What a bound query's names mean, where they stand: deparsing writes these instead of what was written.
struct QueryNames {
  std::map<const ast::ColumnRef*, ast::QualifiedName> columns;
  /// t.* and *: what they stand for, and the name of each column.
  std::map<const ast::ColumnRef*, std::vector<std::pair<ast::QualifiedName, std::string>>> stars;
  std::map<const ast::RelationName*, ast::RelationName> relations;
  std::map<const ast::FunctionCall*, ast::QualifiedName> functions;  // calls of user-made functions
  std::map<const ast::Target*, std::string> targets;   // the names of select list entries
  std::map<std::uint32_t, std::string> literal_types;  // untyped literals by offset: the type that they have
  std::map<std::uint32_t, std::string> casts;          // other expressions by offset: the type that they are converted to unasked
};

/// How a query is written.
enum class QueryLayout {
  kCompact,  // one line
  kPlain,    // as pg_get_viewdef() does: lines and indentation, every operator in parentheses
  kPretty,   // as pg_get_viewdef(…, true) does: parentheses only where they are needed
};

/// SQL that parses back to an equal tree (offsets aside): every operator in parentheses, every name quoted where it
/// needs to be. What the catalog stores of CHECK, DEFAULT, generated columns, index expressions and views.
std::string to_sql(const ast::Expression& expression);
std::string to_sql(const ast::Expression& expression, const QueryNames& names, QueryLayout layout);
std::string to_sql(const ast::TypeName& type);
/// A query or a statement that writes.
std::string to_sql(const ast::Statement& statement);
/// Without INTO, which is not the query's.
std::string to_sql(const ast::Select& query);
std::string to_sql(const ast::Select& query, const QueryNames& names, QueryLayout layout);

/// `name` or `"Na""me"`: quoted unless it is lower case, made of letters, digits and underscores, and no keyword that
/// would be taken for something else (PostgreSQL's quote_identifier()).
std::string quote_identifier(std::string_view name);
/// `'it''s'`; with a backslash in it, ` E'\\'` (PostgreSQL's quote_literal()).
std::string quote_literal(std::string_view text);

}  // namespace redquel::parser
