#include "planner/bind/locking.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

RowLock lock_of(const ast::LockingClause& clause) {
  using Strength = RowLock::Strength;
  RowLock lock;
  switch (clause.strength) {
    case ast::LockStrength::kForKeyShare: lock.strength = Strength::kKeyShare; break;
    case ast::LockStrength::kForShare: lock.strength = Strength::kShare; break;
    case ast::LockStrength::kForNoKeyUpdate: lock.strength = Strength::kNoKeyUpdate; break;
    case ast::LockStrength::kForUpdate: lock.strength = Strength::kUpdate; break;
  }
  switch (clause.wait) {
    case ast::LockWait::kBlock: lock.wait = RowLock::Wait::kBlock; break;
    case ast::LockWait::kSkipLocked: lock.wait = RowLock::Wait::kSkipLocked; break;
    case ast::LockWait::kNoWait: lock.wait = RowLock::Wait::kNoWait; break;
  }
  return lock;
}

[[noreturn]] void refuse(RowLock::Strength strength, std::string_view where) {
  throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} is not allowed with {}", lock_clause(strength), where));
}

/// Rows of the result must be rows of tables.
void check_rows(const QueryLevel& level, const ast::Select& select, RowLock::Strength strength) {
  if (select.distinct || !select.distinct_on.empty()) refuse(strength, "DISTINCT clause");
  if (!select.group_by.empty()) refuse(strength, "GROUP BY clause");
  if (select.having) refuse(strength, "HAVING clause");
  if (!level.aggregates.empty()) refuse(strength, "aggregate functions");
  if (!level.window_calls.empty()) refuse(strength, "window functions");
  if (!level.set_returning.empty()) refuse(strength, "set-returning functions in the target list");
}

void check_name(const BindState& state, const QueryLevel& level, const ast::RelationName& name, RowLock::Strength strength) {
  const auto position = state.position(name.offset);
  const std::string_view clause = lock_clause(strength);
  if (!name.schema.empty() || !name.catalog.empty()) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("{} must specify unqualified relation names", clause)).at(position);
  }
  const auto unlockable = std::ranges::find(level.unlockable, name.name, &std::pair<std::string, const char*>::first);
  if (unlockable != level.unlockable.end()) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} cannot be applied to {}", clause, unlockable->second)).at(position);
  }
  const auto found = std::ranges::find_if(level.range_table, [&](const RelationPtr& relation) {
    return relation->name == name.name && (!relation->is_join || relation->aliased);
  });
  const bool is_merged = std::ranges::any_of(level.names, [&](const NamespaceItem& item) {  // USING (…) AS name
    return item.relation->is_join && item.relation->aliased && item.relation->name == name.name;
  });
  if (is_merged) throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} cannot be applied to a join", clause)).at(position);
  if (found == level.range_table.end()) {
    throw SqlError(sqlstate::kUndefinedTable, fmt::format("relation \"{}\" in {} clause not found in FROM clause", name.name, clause)).at(position);
  }
  if ((*found)->is_join) throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} cannot be applied to a join", clause)).at(position);
}

}  // namespace

std::string_view lock_clause(RowLock::Strength strength) {
  switch (strength) {
    case RowLock::Strength::kKeyShare: return "FOR KEY SHARE";
    case RowLock::Strength::kShare: return "FOR SHARE";
    case RowLock::Strength::kNoKeyUpdate: return "FOR NO KEY UPDATE";
    case RowLock::Strength::kUpdate: break;
  }
  return "FOR UPDATE";
}

std::vector<RowLocking> row_locking(const ast::Select& select, const std::optional<RowLock>& pushed) {
  std::vector<RowLocking> all;
  if (pushed) all.push_back({{}, *pushed});
  for (const ast::LockingClause& clause : select.locking) {
    if (clause.relations.empty()) all.push_back({{}, lock_of(clause)});
    for (const ast::RelationName& name : clause.relations) all.push_back({name.name, lock_of(clause)});
  }
  return all;
}

std::optional<RowLock> lock_of(const QueryLevel& level, std::string_view relation) {
  std::optional<RowLock> lock;
  for (const RowLocking& clause : level.locking) {
    if (!clause.relation.empty() && clause.relation != relation) continue;
    if (!lock) {
      lock = clause.lock;
      continue;
    }
    lock->strength = std::max(lock->strength, clause.lock.strength);
    lock->wait = std::max(lock->wait, clause.lock.wait);
  }
  return lock;
}

void check_locking(const BindState& state, const QueryLevel& level, const ast::Select& select, const std::optional<RowLock>& pushed) {
  if (pushed) check_rows(level, select, pushed->strength);
  for (const ast::LockingClause& clause : select.locking) {
    const RowLock::Strength strength = lock_of(clause).strength;
    check_rows(level, select, strength);
    for (const ast::RelationName& name : clause.relations) check_name(state, level, name, strength);
  }
}

void refuse_locking(const ast::Select& select, const std::optional<RowLock>& pushed) {
  constexpr std::string_view kOperations = "UNION/INTERSECT/EXCEPT";
  if (pushed) refuse(pushed->strength, kOperations);
  if (select.locking.empty()) return;
  const RowLock::Strength strength = lock_of(select.locking[0]).strength;
  if (select.set_operator != ast::SetOperator::kNone) refuse(strength, kOperations);
  throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} cannot be applied to VALUES", lock_clause(strength)));
}

void add_lock_mark(QueryLevel& level, const std::shared_ptr<const sql::TableDef>& table, std::string alias, const RowLock& lock,
                   const std::vector<LogicalColumn>& columns) {
  level.lock_marks.push_back({table, std::move(alias), lock, columns});
}

LogicalPtr place_locks(const QueryLevel& level, LogicalPtr input) {
  if (level.lock_marks.empty() || level.passes_locks) return input;
  std::vector<LogicalColumn> columns = input->columns;
  return make_logical(LogicalLockRows{std::move(input), level.lock_marks}, std::move(columns));
}

}  // namespace redquel::planner
