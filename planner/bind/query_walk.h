#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parser/ast.h"

namespace redquel::planner {

/// Where in a query a table's name stands, as far as recursion cares.
enum class ReferencePlace : std::uint8_t { kPlain, kSubquery, kOuterJoin, kIntersect, kExcept };

struct QueryReference {
  ReferencePlace place;
  std::uint32_t offset;
};

/// Every place in the query that reads a table by that bare name, unless a WITH query inside means something else by it.
std::vector<QueryReference> references_to(const parser::ast::Select&, const std::string& name);

}  // namespace redquel::planner
