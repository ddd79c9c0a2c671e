#pragma once

#include <span>

#include "sql/evaluation_context.h"
#include "sql/expressions/expression.h"

namespace redquel::sql {

/// Returns the arguments of which one NULL makes the call NULL, so that the other arguments are not computed: all of a strict function's
/// but variadic ones. PostgreSQL finds none in a subscript.
std::span<const ExpressionPtr> deciding_arguments(const FunctionCall&);

/// Returns true if the expression is NULL for every row, because of a NULL constant or a NULL that the client has bound.
bool is_known_null(const Expression&, const EvaluationContext&);

/// Computes the parts of an expression that no row decides. Their errors count even if the expression is NULL (`NULL + 1/0`).
void check_fixed_parts(const Expression&, const EvaluationContext&);

}  // namespace redquel::sql
