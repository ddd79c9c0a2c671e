#pragma once

#include <cstddef>
#include <vector>

#include "planner/bind/ordering.h"

namespace redquel::planner {

/// A select list or RETURNING list: stars expanded, names given. Values may be of type unknown.
std::vector<Target> bind_targets(BindState&, QueryLevel&, const std::vector<parser::ast::Target>&);
/// PostgreSQL's MaxTupleAttributeNumber.
inline constexpr std::size_t kMostTargets = 1664;
/// 54011 for a list of so many values, junk included, as no row of PostgreSQL has.
void check_target_count(std::size_t count);

}  // namespace redquel::planner
