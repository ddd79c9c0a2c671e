#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/bind/query_level.h"
#include "planner/bind/variable_scope.h"

namespace redquel::planner {

/// Returns the variable that a name means: `v`, `block.v`, `record.field`, `block.record.field`; with `star` the record as a whole. Null:
/// none.
sql::ExpressionPtr find_variable(const VariableScope&, const std::vector<std::string>& names, bool star);
/// $1. 42P02 "there is no parameter $1".
sql::ExpressionPtr numbered_variable(const VariableScope&, std::int32_t number);
/// The fields of `record.*`, in order; empty: it is no record.
std::vector<const VariableScope::Variable*> fields_of_variable(const VariableScope&, const std::vector<std::string>& names);
sql::ExpressionPtr variable_reference(const VariableScope::Variable&);

}  // namespace redquel::planner
