#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parser/ast.h"

namespace redquel::parser {

/// The meaning of a bound query's names at their places: deparsing writes these instead of the written names.
struct QueryNames {
  std::map<const ast::ColumnRef*, ast::QualifiedName> columns;
  std::map<const ast::ColumnRef*, const ast::FromItem*> owners;  // in which item of FROM the column is
  /// t.* and *: what they stand for, and the name of each column.
  struct StarColumn {
    ast::QualifiedName names;
    std::string column;
    const ast::FromItem* owner = nullptr;
  };
  std::map<const ast::ColumnRef*, std::vector<StarColumn>> stars;
  /// An item of FROM.
  struct Source {
    std::string name;                  // empty: a join without an alias
    std::vector<std::string> columns;  // where their names are not those that they have anyway
    bool is_lateral = false;           // a function over columns of items before it
  };
  std::map<const ast::FromItem*, Source> sources;
  std::map<const ast::Join*, std::vector<std::string>> natural_columns;  // that a NATURAL JOIN compares
  std::map<const ast::Expression*, std::string> array_casts;  // x IN (…), = ANY (ARRAY[…]): what the array is converted to unasked
  std::map<const ast::Case*, std::string> case_types;                    // of those without ELSE
  std::map<const ast::Expression*, std::size_t> sort_positions;          // keys of a set operation's ORDER BY: which column
  std::map<const ast::RelationName*, ast::RelationName> relations;
  std::map<const ast::FunctionCall*, ast::QualifiedName> functions;  // calls of user-made functions
  std::map<const ast::Target*, std::string> targets;   // the names of select list entries
  /// An untyped literal as the input function of its type has read it.
  struct Literal {
    std::string type;
    std::optional<std::string> text;  // as the output function prints it; nullopt: as it is written
    bool is_bare = false;             // says its type itself: true, 5, 1.5
  };
  std::map<std::uint32_t, Literal> literals;           // by offset
  struct CastType {
    std::string name;
    bool has_modifier = false;
    bool is_domain = false;
    bool is_call = false;     // of a function, also one that only fits lengths
    bool is_nothing = false;  // the value has the type already
  };
  std::map<const ast::TypeCast*, CastType> cast_types;
  std::map<const ast::ParameterRef*, ast::QualifiedName> parameters;  // $1 in the body of a function
  std::set<const ast::ColumnRef*> parameter_columns;                  // those of `columns` that are parameters
  std::map<const ast::AssignmentTarget*, std::string> assigned;  // columns that are written
  /// The columns of an INSERT that names none.
  std::map<const ast::Insert*, std::vector<std::string>> insert_columns;
  std::map<std::uint32_t, std::string> casts;          // other expressions by offset: the type that they are converted to unasked
};

/// The layout of a query's text.
enum class QueryLayout {
  kCompact,  // one line
  kPlain,    // as pg_get_viewdef() does: lines and indentation, every operator in parentheses
  kLine,     // the same in one line
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
/// A statement of the body of a function; laid out: indented by one.
std::string to_sql(const ast::Statement& statement, const QueryNames& names, QueryLayout layout);

/// `UNION`, `INTERSECT` or `EXCEPT`.
std::string_view set_operator_name(ast::SetOperator set_operator);

/// `name` or `"Na""me"`: quoted unless it is lower case, made of letters, digits and underscores, and no keyword that
/// would be taken for something else (PostgreSQL's quote_identifier()).
std::string quote_identifier(std::string_view name);
/// `'it''s'`; with a backslash in it, ` E'\\'` (PostgreSQL's quote_literal()).
std::string quote_literal(std::string_view text);

}  // namespace redquel::parser
