#pragma once

#include <string>
#include <string_view>

#include "sql/expressions/expression.h"

namespace redquel::planner {

/// The collations that there are; all of them compare bytes. 0: there is none of that name.
sql::Oid find_collation(std::string_view name);
std::string collation_name(sql::Oid collation);

/// The expression with the collation that COLLATE or its column gives it.
sql::ExpressionPtr with_collation(const sql::ExpressionPtr&, sql::Collation);

/// Returns the expression with its derived collation if it contains COLLATE, or a column with a collation of its own; otherwise the
/// expression itself. Throws like derived_collation().
sql::ExpressionPtr with_derived_collation(sql::ExpressionPtr);
/// The collation of an expression's value, derived from those of its parts (manual 24.2.1). 42P21 where two explicit ones meet; 42P22
/// where a function or operator must know it and implicit ones conflict.
sql::Collation derived_collation(const sql::Expression&);

/// Returns the known collation of the bound expression; none for a type without collations.
sql::Collation known_collation(const sql::Expression&);
/// Returns a column of a subquery: the inner COLLATE is implicit for readers of the column, and a conflict is forgotten.
sql::ExpressionPtr with_column_collation(const sql::ExpressionPtr& column, sql::Collation inner);

/// 42P21 where rows are to be sorted, grouped or made distinct by a value whose implicit collations conflict.
void check_key_collation(const sql::Expression& key);
/// Returns the collation of a column of a set operation over the two. 42P21 if they conflict, unless no values are compared (`keeps_all`).
sql::Collation united_collation(const sql::Expression& left, const sql::Expression& right, bool keeps_all);

}  // namespace redquel::planner
