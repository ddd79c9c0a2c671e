#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sql/evaluation_context.h"
#include "sql/expressions/expression.h"
#include "sql/functions/deferred_calls.h"

namespace redquel::sql {

/// Returns the question of expressions whose only deferred call is nextval() of a constant, made once for each row whatever the rows hold, where nothing
/// else can fail before it. So it can be answered before they are evaluated. nullopt: they are others. Throws what the call throws. Null pointers
/// are allowed.
std::optional<NextValues> certain_next_values(std::span<const ExpressionPtr> expressions, std::size_t rows, const EvaluationContext& context);

}  // namespace redquel::sql
