#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/bind/query_level.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

// Expressions of row level security policies: over a row of the table, with subqueries. The catalog stores them as text in which every
// relation has its schema and every column its relation, as it stores views.

/// Binds a policy's expression and returns the text that the catalog stores. 42804 "argument of POLICY must be type boolean, not type …",
/// 42803 and 42P20 for aggregates and window functions.
std::string make_policy_condition(const parser::ast::Expression& written, const sql::TableDef& table, const sql::CatalogSnapshot& catalog,
                                  const BindSettings& settings);
/// Returns the relations with the columns, and the functions, that the policy's expressions use.
std::vector<sql::PolicyDef::Reference> policy_references(const sql::PolicyDef& policy, const sql::TableDef& table,
                                                         const sql::CatalogSnapshot& catalog);
/// Returns the stored text with the names that relations, columns and functions have in `after`. XX001 if the text is no expression.
std::string rename_in_policy(const std::string& text, const sql::TableDef& before_table, const sql::CatalogSnapshot& before,
                             const sql::CatalogSnapshot& after);
/// Notes in `settings.names` what the names of the expression mean.
void note_policy_names(const parser::ast::Expression& written, const sql::TableDef& table, const sql::CatalogSnapshot& catalog,
                       BindSettings settings);
/// Returns true if the text is an expression of one of the table's policies.
bool is_policy_condition(const sql::TableDef& table, std::string_view text);

/// The row of the table as names in a policy see it: `values` are its columns, parallel to the table's.
RelationPtr policy_relation(const std::shared_ptr<const sql::TableDef>& table, const std::vector<sql::ExpressionPtr>& values);
/// Binds the expression over the names of the level.
sql::ExpressionPtr bind_policy_condition(BindState& state, QueryLevel& level, const parser::ast::Expression& written);

}  // namespace redquel::planner
