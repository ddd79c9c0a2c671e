#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace redquel::parser::plpgsql {

// A body in PL/pgSQL (manual chapter 43) as a tree. Variables are numbers of Body::variables; SQL in it stays text, with the variables that
// its words may mean.

/// A place where a text names a variable: `v`, `v.field`, `block.v`, `v.*`.
struct VariableUse {
  std::string block;  // the label in front; empty: none is written
  std::string name;
  std::size_t variable = 0;
  std::string field;  // empty: the variable as a whole
  bool all_fields = false;
};

/// An expression or a statement of SQL.
struct SqlText {
  std::string text;
  std::uint32_t number = 0;  // among the texts of the body, from 0
  std::vector<VariableUse> uses;  // inner blocks first
};

struct Variable {
  std::string name;
  std::uint32_t line = 0;
  std::string type;  // as written; empty: that of a loop's integer, or of an argument
  std::optional<std::size_t> same_as;  // variable%TYPE
  std::string collation;
  bool constant = false, not_null = false;
  bool is_integer = false;  // of FOR i IN 1..n
  std::optional<SqlText> value;       // DEFAULT
  std::optional<std::size_t> argument;  // its number, from 0
  /// CURSOR [(arguments)] FOR query.
  struct Cursor {
    std::vector<std::size_t> arguments;
    SqlText query;
    std::optional<bool> scroll;
  };
  std::optional<Cursor> cursor;
};

/// A step from a variable to the part of it that is assigned: a field, an element or a slice.
struct Step {
  std::string field;  // empty: a subscript
  std::optional<SqlText> lower, upper;
  bool slice = false;
};
struct Target {
  std::size_t variable = 0;
  std::vector<Step> steps;
  std::string text;
};

struct Statement;
using Statements = std::vector<std::unique_ptr<const Statement>>;

struct Handler {
  std::uint32_t line = 0;
  std::vector<std::string> sqlstates;  // five characters each; empty text: OTHERS
  Statements body;
};
struct Block {
  std::string label;
  std::vector<std::size_t> variables;
  Statements body;
  std::vector<Handler> handlers;
  std::size_t sqlstate = 0, sqlerrm = 0;  // the variables in handlers
};
struct Assign {
  Target target;
  SqlText value;
};
struct If {
  struct Branch {
    SqlText condition;
    Statements body;
  };
  std::vector<Branch> branches;
  Statements otherwise;
};
struct Case {
  std::optional<SqlText> value;
  std::vector<If::Branch> branches;  // with a value: `value IN (…)`, over `variable`
  std::size_t variable = 0;
  std::optional<Statements> otherwise;
};
struct Loop {
  std::string label;
  std::optional<SqlText> condition;  // WHILE
  Statements body;
};
struct ForInteger {
  std::string label;
  std::size_t variable = 0;
  SqlText from, to;
  std::optional<SqlText> step;
  bool reverse = false;
  Statements body;
};
/// INTO, the target of FOR: one record, or several variables.
struct Into {
  std::vector<Target> targets;
  bool strict = false;
};
struct Dynamic {
  SqlText query;
  std::vector<SqlText> arguments;
};
struct ForQuery {
  std::string label;
  Into into;
  std::variant<SqlText, Dynamic> query;
  Statements body;
};
struct ForCursor {
  std::string label;
  std::size_t row = 0, cursor = 0;
  std::vector<SqlText> arguments;  // in the cursor's order
  Statements body;
};
struct Foreach {
  std::string label;
  Into into;
  std::int32_t slice = 0;
  SqlText array;
  Statements body;
};
struct Exit {
  bool is_exit = true;  // else CONTINUE
  std::string label;
  std::optional<SqlText> condition;
};
struct Return {
  std::optional<SqlText> value;
};
struct ReturnNext {
  std::optional<SqlText> value;
};
struct ReturnQuery {
  std::variant<SqlText, Dynamic> query;
};
struct Raise {
  std::string level = "error";  // debug, log, info, notice, warning, error
  std::string condition;        // name as written; empty: none
  std::string sqlstate;
  std::optional<std::string> format;
  std::vector<SqlText> arguments;
  struct Option {
    std::string name;  // lower case: message, detail, hint, errcode, column, constraint, datatype, table, schema
    SqlText value;
  };
  std::vector<Option> options;
  bool again = false;  // RAISE alone
};
struct Assert {
  SqlText condition;
  std::optional<SqlText> message;
};
struct Sql {
  SqlText statement;
  std::optional<Into> into;
  bool perform = false, call = false;
};
struct Execute {
  Dynamic query;
  std::optional<Into> into;
};
struct GetDiagnostics {
  bool stacked = false;
  struct Item {
    Target target;
    std::string name;  // lower case
  };
  std::vector<Item> items;
};
struct Open {
  std::size_t cursor = 0;
  std::vector<SqlText> arguments;
  std::optional<std::variant<SqlText, Dynamic>> query;
  std::optional<bool> scroll;
};
struct Fetch {
  std::size_t cursor = 0;
  enum class Direction : std::uint8_t { kForward, kBackward, kAbsolute, kRelative } direction = Direction::kForward;
  std::optional<SqlText> count;
  std::int64_t rows = 1;
  bool all = false, moves = false;
  std::optional<Into> into;
};
struct Close {
  std::size_t cursor = 0;
};
struct EndTransaction {
  bool commit = true, chain = false;
};
struct Null {};

struct Statement {
  std::uint32_t line = 0;
  std::uint32_t number = 0;  // among the statements of the body, from 0
  std::variant<Block, Assign, If, Case, Loop, ForInteger, ForQuery, ForCursor, Foreach, Exit, Return, ReturnNext, ReturnQuery, Raise, Assert, Sql,
               Execute, GetDiagnostics, Open, Fetch, Close, EndTransaction, Null>
      node;
};

struct Body {
  std::vector<Variable> variables;
  std::uint32_t texts = 0, statements = 0;  // how many there are
  std::size_t found = 0;
  Statement block;
  enum class Conflict : std::uint8_t { kError, kVariable, kColumn } conflict = Conflict::kError;
  bool print_strict_params = false;
};

}  // namespace redquel::parser::plpgsql
