#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"

namespace redquel::executor {

/// INSERT, UPDATE and DELETE: the source is read to its end, the changes of all rows are one write unit, and only when it is in
/// Redis the RETURNING rows are given. Throws SqlError 23502, 23505, 23514, 54000; WriteConflict and StaleCatalog for the engine.
/// `source`: gives the rows in place of the plan's source.
OperatorPtr make_insert(const planner::PhysicalNode&, const planner::PhysicalInsert&, ExecutionContext&, OperatorPtr source = nullptr);
/// INSERT … ON CONFLICT DO UPDATE; 21000 for a row that conflicts twice.
OperatorPtr make_upsert(const planner::PhysicalNode&, const planner::PhysicalInsert&, ExecutionContext&);
OperatorPtr make_update(const planner::PhysicalNode&, const planner::PhysicalUpdate&, ExecutionContext&);
OperatorPtr make_delete(const planner::PhysicalNode&, const planner::PhysicalDelete&, ExecutionContext&);
/// 21000 for a row of the target that several rows of the source change.
OperatorPtr make_merge(const planner::PhysicalNode&, const planner::PhysicalMerge&, ExecutionContext&);

/// INSERT, UPDATE and DELETE of a view by its triggers INSTEAD OF. The source is read first, unless it reads no table. 44000 for a row that a view
/// above refuses. `source`: the rows of COPY.
OperatorPtr make_view_write(const planner::PhysicalViewWrite&, ExecutionContext&, OperatorPtr source = nullptr);

/// Rows that came to be locked: 55P03 for NOWAIT, else LockedByOther and WriteConflict for the engine.
OperatorPtr make_lock_rows(const planner::PhysicalNode&, const planner::PhysicalLockRows&, ExecutionContext&);

/// Throws 55000 where ON CONFLICT over these columns (absent: over any key) would have to look at a DEFERRABLE constraint.
void refuse_deferrable_arbiters(const sql::TableDef& table, const std::optional<std::vector<std::int16_t>>& columns);

}  // namespace redquel::executor
