#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

// A call of a function in LANGUAGE sql whose body cannot be inlined: the evaluator runs the body. Arguments, also of the rows in FROM: the
// names of the function and of its result's columns (text[]), its oid (int4), a NULL of each column's type, then those of the call.

/// One value: of the function's type, or a record of its columns.
const ScalarFunction& user_function_call();
/// All rows of it, in FROM or in a select list. With one column that has no name in the list: as `user_function_call` gives them.
const TableFunction& user_function_rows();

/// The hidden arguments in front of the call's own.
struct UserFunctionHead {
  std::string name;
  std::vector<std::string> columns;
  Oid function = 0;
  std::size_t size() const { return columns.size() + 2; }
};
UserFunctionHead read_user_function_head(const Datum& names, const Datum& function);

}  // namespace redquel::sql
