#pragma once

#include <vector>

#include "planner/bind/with.h"

namespace redquel::planner {

/// Names and types that references to the query have. 42P10 with too many names.
void name_with_columns(const BindState&, WithItem&, std::vector<LogicalColumn> columns);

/// The queries of WITH RECURSIVE in an order in which each comes after those that it uses, and which of them use themselves.
struct RecursiveOrder {
  std::vector<std::size_t> order;
  std::vector<bool> recursive;  // by place in the clause
};
/// 0A000 "mutual recursion between WITH items is not implemented"; 42P19 where a query uses itself in a way that is not allowed: not in
/// the second term of a UNION, in a subquery, under an outer join, twice …
RecursiveOrder order_recursive(const BindState&, const parser::ast::WithClause&);

/// Binds the terms of a query that uses itself. 42804 where the types of its terms differ.
void bind_recursive(BindState&, QueryLevel* outer_level, WithItem&, const parser::ast::Select&);

}  // namespace redquel::planner
