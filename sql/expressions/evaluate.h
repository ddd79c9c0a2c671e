#pragma once

#include <cstdint>
#include <vector>

#include "sql/evaluation_context.h"
#include "sql/expressions/expression.h"

namespace redquel::sql {

/// One value per row of the batch, decoded, in the expression's type. Columns are positions in the batch. Throws
/// SqlError.
ColumnPtr evaluate(const Expression&, const Batch&, const EvaluationContext&);
/// Like evaluate(), but a bare reference to an encoded column stays encoded: for output that only copies bytes.
ColumnPtr evaluate_for_output(const Expression&, const Batch&, const EvaluationContext&);
/// Evaluates an expression without columns.
Datum evaluate_scalar(const Expression&, const EvaluationContext&);
/// Rows for which the condition is true (not NULL, not false).
std::vector<std::uint32_t> select_rows(const Expression& condition, const Batch&, const EvaluationContext&);
/// Replaces foldable subtrees by constants. A subtree that fails to compute stays, so that the error comes at run time
/// and only if it is reached.
ExpressionPtr fold_constants(const ExpressionPtr&, const EvaluationContext&);

}  // namespace redquel::sql
