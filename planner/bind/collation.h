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

/// The same where COLLATE, or a column with a collation of its own, stands within; else the expression itself. Throws what
/// derived_collation does.
sql::ExpressionPtr with_derived_collation(sql::ExpressionPtr);
/// The collation of an expression's value, derived from those of its parts (manual 24.2.1). 42P21 where two explicit ones meet; 42P22
/// where a function or operator must know it and implicit ones conflict.
sql::Collation derived_collation(const sql::Expression&);

/// What the bound expression is known to have; nothing for a type without collations.
sql::Collation known_collation(const sql::Expression&);
/// A column of a subquery: what COLLATE said within it is implicit for whoever reads the column, and a conflict is forgotten.
sql::ExpressionPtr with_column_collation(const sql::ExpressionPtr& column, sql::Collation inner);

/// 42P21 where rows are to be sorted, grouped or made distinct by a value whose implicit collations conflict.
void check_key_collation(const sql::Expression& key);
/// Of a column of a set operation over the two. 42P21 where they conflict, unless nothing is compared (`keeps_all`).
sql::Collation united_collation(const sql::Expression& left, const sql::Expression& right, bool keeps_all);

}  // namespace redquel::planner
