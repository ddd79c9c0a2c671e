#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "parser/ast.h"

namespace redquel::planner {

/// The place of a table's name in a query, as far as recursion matters.
enum class ReferencePlace : std::uint8_t { kPlain, kSubquery, kOuterJoin, kIntersect, kExcept };

struct QueryReference {
  ReferencePlace place;
  std::uint32_t offset;
};

/// Every place in the query that reads a table by that bare name, unless a WITH query inside means something else by it.
std::vector<QueryReference> references_to(const parser::ast::Select&, const std::string& name);

/// Names in a query and in all queries within it: columns as they are written, and what relations are called there.
struct WrittenNames {
  std::vector<const parser::ast::Expression*> columns;  // each a ColumnRef
  std::set<std::string> relations;
};
WrittenNames written_names(const parser::ast::Select&);

}  // namespace redquel::planner
