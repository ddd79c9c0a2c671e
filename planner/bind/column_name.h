#pragma once

#include <string>

#include "planner/bind/bind_state.h"

namespace redquel::planner {

/// The name of an output column without AS: the column's, the function's, a cast's type, else "?column?" (PostgreSQL's
/// FigureColname). The expression has been bound.
std::string default_column_name(const BindState&, const parser::ast::Expression&);

}  // namespace redquel::planner
