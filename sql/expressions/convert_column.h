#pragma once

#include "sql/column.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

/// The cast through text: the output function of the column's type, then the input function of `target` (without its
/// modifier).
ColumnPtr convert_through_text(const ColumnPtr& column, Type target, const EvaluationContext& context);

/// The column under its type's modifier: varchar(n), numeric(p,s), timestamp(p)… 22001, 22003 where a value does not
/// fit.
ColumnPtr apply_modifier(const ColumnPtr& column, Type target, bool is_explicit);

}  // namespace redquel::sql
