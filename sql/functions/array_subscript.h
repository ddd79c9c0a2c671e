#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

// Operations that SQL writes without a name: rows of no table, for the binder. The rows' comments name the arguments.

/// ARRAY[a, b, …] of elements, ARRAY[[…], […]] of arrays: (element, …), (array, …).
const ScalarFunction& array_constructor();
const ScalarFunction& nested_array_constructor();

/// array[i][j]: (array, i, j, …). NULL outside.
const ScalarFunction& array_subscript();
/// array[a:b][c:d]: (array, omitted, a, b, c, d, …). Bit 2n of `omitted` says that the lower bound of dimension n is not written,
/// bit 2n + 1 that the upper one is not.
const ScalarFunction& array_slice();
/// jsonb['a'][1]: what jsonb_extract_path has (jsonb, 'a', '1').
const ScalarFunction& jsonb_subscript();
/// Returns true for these three: the arguments behind the first are computed only for rows whose first is not NULL.
bool is_subscript(const ScalarFunction&);
/// The array with one element, or one slice, replaced: (array, i, j, …, value), (array, omitted, a, b, …, value).
const ScalarFunction& array_with_element();
const ScalarFunction& array_with_slice();

}  // namespace redquel::sql
