#pragma once

#include <optional>

#include "planner/bind/from_binder.h"

namespace redquel::planner {

/// Binds `redquel.check_view('v')`: a row for each row that the materialized view has and its query has not, or the other way round. Nullopt: the
/// function is another one. Throws SqlError 42P01, 42809 for other relations, 55000 for a view that has not been populated.
std::optional<FromPart> bind_view_check(BindState& state, QueryLevel& level, const parser::ast::FunctionRef& function);

}  // namespace redquel::planner
