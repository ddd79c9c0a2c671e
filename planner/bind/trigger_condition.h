#pragma once

#include <string>
#include <vector>

#include "planner/bind/query_level.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

// WHEN of triggers: expressions over the rows `old` and `new` of a table. The catalog stores them as text, as it stores policies.

/// Binds a trigger's condition and returns the text that the catalog stores. 42P17 for rows and columns that the trigger does not have,
/// 42804 "argument of WHEN must be type boolean, not type …", 0A000 for functions whose body must be run.
std::string make_trigger_condition(const parser::ast::Expression& written, const sql::TriggerDef& trigger, const sql::TableDef& table,
                                   const sql::CatalogSnapshot& catalog, const BindSettings& settings);
/// Returns the table with the columns, and the functions, that the condition uses.
std::vector<sql::PolicyDef::Reference> trigger_references(const sql::TriggerDef& trigger, const sql::TableDef& table,
                                                          const sql::CatalogSnapshot& catalog);
/// Returns the stored text with the names that columns and functions have in `after`. XX001 if the text is no expression.
std::string rename_in_trigger(const std::string& text, const sql::TableDef& before_table, const sql::CatalogSnapshot& before,
                              const sql::CatalogSnapshot& after);
/// Notes in `settings.names` what the names of the condition mean.
void note_trigger_names(const parser::ast::Expression& written, const sql::TableDef& table, const sql::CatalogSnapshot& catalog,
                        BindSettings settings);
/// Returns true if the text is the condition of one of the table's triggers.
bool is_trigger_condition(const sql::TableDef& table, std::string_view text);
/// Binds the stored condition over a batch: the columns of the old row, then those of the new one, as the table has them.
sql::ExpressionPtr bind_trigger_condition(const std::string& text, const std::shared_ptr<const sql::TableDef>& table,
                                          const sql::CatalogSnapshot& catalog, const BindSettings& settings);

}  // namespace redquel::planner
