#pragma once

#include <vector>

#include "planner/bind/bind.h"
#include "sql/expressions/expression.h"

namespace redquel::planner {

/// The value of `SELECT value`, over variables and without a query: its parameters are those of `settings.variables`. Null: it reads a
/// table, has subqueries or aggregates, calls functions that wait, or needs rights.
sql::ExpressionPtr bind_value(const parser::ast::Statement& statement, const sql::CatalogSnapshot& catalog, std::vector<sql::Type> parameters,
                              const BindSettings& settings);

/// A value as it is assigned to a variable of a type, or of a domain over it: by an assignment cast or, if there is none, through its text.
/// 42846 if there is no way.
sql::ExpressionPtr assigned_value(const sql::ExpressionPtr& value, sql::Type type, sql::Oid domain, const sql::CatalogSnapshot& catalog,
                                  const BindSettings& settings);

}  // namespace redquel::planner
