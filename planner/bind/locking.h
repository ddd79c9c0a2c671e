#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "planner/bind/query_level.h"

namespace redquel::planner {

/// FOR UPDATE and its kin (PostgreSQL's manual, SELECT, "The Locking Clause").

/// The query's own clauses, and the one that reaches it from outside.
std::vector<RowLocking> row_locking(const parser::ast::Select&, const std::optional<RowLock>& pushed);
/// Returns the lock for the rows of an item of FROM: the strongest of the clauses' locks; nullopt: none.
std::optional<RowLock> lock_of(const QueryLevel&, std::string_view relation);
/// After FROM and all clauses are bound. 0A000 where rows of the result are not rows of tables; 42P01, 42601, 0A000 for names of OF.
void check_locking(const BindState&, const QueryLevel&, const parser::ast::Select&, const std::optional<RowLock>& pushed);
/// 0A000 for a UNION or VALUES with a locking clause, its own or (UNION) one from outside.
void refuse_locking(const parser::ast::Select&, const std::optional<RowLock>& pushed);

/// The table's columns as a row to lock: `columns` are those of its scan, the hidden key included.
void add_lock_mark(QueryLevel&, const std::shared_ptr<const sql::TableDef>&, std::string alias, const RowLock&,
                   const std::vector<LogicalColumn>& columns);
/// `input` with a LogicalLockRows for the level's marks, unless the surroundings lock them.
LogicalPtr place_locks(const QueryLevel&, LogicalPtr input);

}  // namespace redquel::planner
