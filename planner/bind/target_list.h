#pragma once

#include <vector>

#include "planner/bind/ordering.h"

namespace redquel::planner {

/// A select list or RETURNING list: stars expanded, names given. Values may be of type unknown.
std::vector<Target> bind_targets(BindState&, QueryLevel&, const std::vector<parser::ast::Target>&);

}  // namespace redquel::planner
