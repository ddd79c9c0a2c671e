#pragma once

#include <vector>

#include "executor/storage/placed_table.h"
#include "planner/plan.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

class Transaction;

/// Returns the command of a plan that writes, without its WITH queries; null: it only reads.
const char* command_of(const planner::PhysicalNode& plan);
/// Returns true if the plan has a temporary table whose rows go with the transaction. Then even a single statement is one, so that they
/// never come.
bool empties_on_commit(const planner::PhysicalPlan& plan);
/// Throws 25006 if the statement writes to a table that is not temporary, or locks rows.
void refuse_writes(const planner::PlannedStatement& planned, bool is_copy);
/// Throws 55000 if the statement updates or deletes rows whose changes a publication has and whose table has no replica identity.
void check_replica_identity(const planner::PlannedStatement& planned, const sql::CatalogSnapshot& catalog);
/// Returns true if the plan adds to columns of one row, which need not be read.
bool adds_to_one_row(const planner::PhysicalNode& plan);
/// New rows without a key lock nothing, so that others may define their table anew: the values that wait for the commit are not what a plan takes them
/// for. Throws 40001 then. Where the transaction has definitions of its own, it follows those of others before.
void check_definitions(const Transaction& transaction, const sql::CatalogSnapshot& catalog);
/// Returns true if the plan writes in one place only, and the tables there have no foreign keys.
bool writes_alone(const planner::PhysicalNode& plan);
/// Returns true if a write of a table may look at another bucket of a cluster: by a foreign key, also of a table that an action reaches. Then
/// even a single statement is a transaction.
bool has_keys_over_buckets(const sql::CatalogSnapshot& catalog, const planner::PhysicalPlan& plan);
/// Adds the tables that foreign keys of these, or to these, concern: a write may look at them.
void add_tables_of_foreign_keys(const sql::CatalogSnapshot& catalog, std::vector<PlacedTable>& tables);

/// Returns true if the table that the plan writes to, and its partitions, are defined in the catalog as in the plan.
bool writes_by_definition_of(const sql::CatalogSnapshot& catalog, const planner::PhysicalPlan& plan);

}  // namespace redquel::executor
