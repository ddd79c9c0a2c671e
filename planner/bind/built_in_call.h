#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/bind/bind_state.h"

namespace redquel::planner {

/// Returns true if a built-in function takes these arguments.
bool is_built_in_call(const std::string& name, const std::vector<sql::ExpressionPtr>& arguments);

/// A call of a built-in function needs EXECUTE if that is not everybody's: PostgreSQL revokes it, or a REVOKE has.
void require_execute(BindState& state, std::string_view name, std::span<const sql::Oid> arguments);

}  // namespace redquel::planner
