#pragma once

#include "planner/bind/bind_state.h"

namespace redquel::planner {

/// A value of the domain's base type (with its modifier), tested when it is computed: against the domain (0: none), those under it, and
/// those that values of its type hold as elements or fields. The value as it is where there is no condition.
sql::ExpressionPtr into_domain(const sql::CatalogSnapshot&, const BindSettings&, sql::ExpressionPtr value, sql::Oid domain);
/// Like into_domain() above, for a value that was made of `written`: if that is an untyped literal, domains within the value are tested
/// now, as the types' input functions do, at the literal's offset.
sql::ExpressionPtr into_domain(const sql::CatalogSnapshot&, const BindSettings&, const sql::Expression& written, sql::ExpressionPtr value,
                               sql::Oid domain);

/// A domain's CHECK over VALUE, which is column 0 of its own row. 42804 "argument of CHECK must be type boolean, not type integer".
sql::ExpressionPtr bind_domain_check(const parser::ast::Expression&, sql::Type base, const sql::CatalogSnapshot&, const BindSettings&,
                                     bool stored);

/// The DEFAULT that a column of the domain has when it has none of its own; empty: none.
std::string domain_default(const sql::CatalogSnapshot&, sql::Oid domain);

}  // namespace redquel::planner
