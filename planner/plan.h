#pragma once

#include <optional>
#include <set>

#include "parser/ast.h"
#include "planner/bind/bind.h"
#include "planner/direct/direct_read.h"
#include "planner/tree/physical_plan.h"
#include "planner/tree/requirement.h"
#include "planner/tree/table_sizes.h"

namespace redquel::planner {

/// The plan of a query or a writing statement.
struct PlannedStatement {
  PhysicalPlan plan;
  std::vector<sql::Type> parameter_types;
  std::uint32_t slot_count = 0;  // of EvaluationContext::parameters
  bool is_compound_write = false;
  StatementRights rights = {};
  sql::SizesAsked sizes_asked = sql::SizesAsked::kNone;
  DirectReadPtr direct = nullptr;  // the plan as one turn of commands; null: it is none
  bool fires_triggers = false;     // perhaps; then it is a compound write, too
};

/// Binds, rewrites and chooses paths. Pure: no I/O. Throws what `bind` throws. `changed_tables`: an open transaction has changed rows of
/// these, so that index answers, orders and limits of Redis are not the transaction's: only whole rows are read from them. `sizes` decide
/// in which order large tables are joined, and how.
PlannedStatement plan(const parser::ast::Statement& statement, const sql::CatalogSnapshot& catalog,
                      std::vector<sql::Type> declared_parameter_types, const BindSettings& settings,
                      const std::set<sql::Oid>& changed_tables = {}, const TableSizes& sizes = {});

/// The managed tables of a plan that might be another if their sizes were known: it reads several sources, one of them whole or
/// by the sets of an index.
std::vector<std::shared_ptr<const sql::TableDef>> tables_whose_sizes_count(const PhysicalPlan& plan);

/// Returns true if a plan that was made without these changed tables gives the transaction's rows of them, too.
bool reads_changed_tables_plainly(const PhysicalPlan& plan, const std::set<sql::Oid>& changed_tables);

/// The first of the locking clauses (FOR UPDATE …) in the plan; nullopt: it locks no rows.
std::optional<RowLock> locking_clause(const PhysicalPlan& plan);

/// Rows that come from several commands must stem from one moment: a plan that reads more than one source, or holds back its rows
/// until it has read all. (A plain scan streams; each of its rows is from one moment.)
bool needs_snapshot(const PhysicalPlan& plan);

}  // namespace redquel::planner
