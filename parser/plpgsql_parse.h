#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/plpgsql_tree.h"

namespace redquel::parser::plpgsql {

/// The part of a routine's definition that its body depends on.
struct Signature {
  std::string name;  // empty: of DO
  struct Argument {
    std::string name;      // empty: known by its number only
    bool is_input = true;  // else OUT
    bool has_number = true;  // $1 means it, too
  };
  std::vector<Argument> arguments;  // in order; those that are written as columns of RETURNS TABLE last
  bool returns_set = false, returns_void = false, procedure = false, has_outputs = false;
};

/// Parses a body. Throws SqlError: 42601 in PostgreSQL's words, with the position in the body, for PL/pgSQL and for the SQL in it.
Body parse_body(std::string_view body, const Signature& signature);

/// The SQLSTATEs of a condition's name; empty: there is no such condition.
std::vector<std::string> sqlstates_of(std::string_view condition);

}  // namespace redquel::parser::plpgsql
