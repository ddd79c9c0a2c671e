#pragma once

#include <string>
#include <string_view>

#include "parser/ast.h"

namespace redquel::parser {

/// SQL that parses back to an equal tree (offsets aside): every operator in parentheses, every name quoted where it
/// needs to be. What the catalog stores of CHECK, DEFAULT, generated columns, index expressions and views.
std::string to_sql(const ast::Expression& expression);
std::string to_sql(const ast::TypeName& type);
std::string to_sql(const ast::Select& query);

/// `name` or `"Na""me"`: quoted unless it is lower case, made of letters, digits and underscores, and no keyword that
/// would be taken for something else (PostgreSQL's quote_identifier()).
std::string quote_identifier(std::string_view name);
/// `'it''s'`; with a backslash in it, ` E'\\'` (PostgreSQL's quote_literal()).
std::string quote_literal(std::string_view text);

}  // namespace redquel::parser
