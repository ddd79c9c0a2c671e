#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "planner/bind/maintained_view.h"

namespace redquel::executor {

/// The option of a materialized view that each write of its table keeps current, as its definition has it.
inline constexpr std::string_view kMaintainedOption = "maintained=true";

/// Returns true if the options of a materialized view say that it is maintained. 22023.
bool declares_maintained(const std::vector<parser::ast::Option>& options);
/// Returns true if each write of the table of the query keeps the materialized view current.
bool is_maintained(const sql::ViewDef& query);
/// Gives the view's rows their hidden column and the index over their groups, and the table of the query the triggers that keep them current.
/// `table` is in the draft. Throws 0A000 for a query that cannot be kept, 42501.
planner::MaintainedView add_maintained_parts(CatalogDraft& draft, sql::TableDef table, const sql::ViewDef& query);
/// Throws 0A000 if a materialized view follows the table's writes. `what`: cannot be done to such a table.
void check_not_maintained(const sql::TableDef& base, std::string_view what);

}  // namespace redquel::executor
