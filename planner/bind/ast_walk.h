#pragma once

#include <functional>

#include "parser/ast.h"

namespace redquel::planner {

/// The direct children of an expression as it was written; not into subqueries (their test is a child).
void for_each_child(const parser::ast::Expression&, const std::function<void(const parser::ast::Expression&)>&);

}  // namespace redquel::planner
