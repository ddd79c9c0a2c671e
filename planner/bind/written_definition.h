#pragma once

#include <string>
#include <vector>

#include "planner/bind/bind.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

// Stored expressions and bodies in the form of PostgreSQL's catalog functions (ruleutils): implicit conversions are shown, literals have
// their type's output, every operator has parentheses (`pretty`: only where needed). A text that no longer binds is returned unchanged.

/// An expression over the table's row: pg_get_constraintdef(), pg_get_expr(), pg_get_indexdef().
std::string written_expression(const std::string& text, const sql::TableDef&, const sql::CatalogSnapshot&, BindSettings, bool pretty);
/// A DEFAULT of something of this type. `schema`: where it lies.
std::string written_default(const std::string& text, sql::Type, const std::string& schema, const sql::CatalogSnapshot&, BindSettings);
/// A domain's CHECK over VALUE.
std::string written_domain_check(const std::string& text, const sql::UserType& domain, const sql::CatalogSnapshot&, BindSettings, bool pretty);
/// pg_get_function_sqlbody(): "RETURN (a + 1)", "BEGIN ATOMIC …". Relations and functions are marked as in ViewDef::definition.
std::string written_body(const sql::FunctionDef&, const sql::CatalogSnapshot&, BindSettings);
/// The relations that such a body reads or writes, their columns, and the functions that it calls; as much as can be told.
std::vector<sql::ViewDef::Reference> body_references(const sql::FunctionDef&, const sql::CatalogSnapshot&, BindSettings);
/// Calls tables and columns in such a body as they are called in `after`. Throws where the body means nothing in `before`.
void rename_in_body(sql::FunctionDef&, const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& after);

}  // namespace redquel::planner
