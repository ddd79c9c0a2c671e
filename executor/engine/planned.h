#pragma once

#include <chrono>
#include <map>
#include <set>

#include "executor/engine/engine.h"
#include "planner/explain/explain.h"
#include "planner/plan_copy.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

/// The engine's part of a prepared statement.
class PreparedPlan {
 public:
  enum class Kind : std::uint8_t { kQuery, kExplain, kDefinition, kCopy };
  Kind kind = Kind::kQuery;
  planner::PlannedStatement planned;          // kQuery, kExplain
  bool writes = false, needs_snapshot = false;  // of `planned`
  bool scans_memory = false;                  // of `planned`
  bool reads_plainly = false;                 // `planned` holds regardless of the transaction's changes
  planner::PlannedCopy copy;                  // kCopy, without `rows`: they are `planned`
  planner::ExplainOptions explain;            // kExplain
  const parser::ast::Statement* statement = nullptr;  // kQuery, kExplain, kCopy: what was planned (EXPLAIN's inner statement)
  /// The statement that is planned instead: CALL as a query over the procedure.
  std::shared_ptr<const parser::ast::Statement> rewritten;
  DirectProgramPtr direct;                    // kQuery: of `planned.direct`
  std::string command_tag;                    // empty: that of the plan
  std::string catalog_version;
  bool row_security = true;                   // the parameter for which it was planned
  std::vector<std::string> search_path;       // under which its names were looked up
  sql::Oid role = 0;                          // for which it was planned; counts where `planned` depends on it
  /// The role, and the roles of then, for which the statement's rights were last found to be good (of this plan's definitions).
  mutable sql::Oid checked_role = 0;
  mutable sql::RoleSetPtr checked_roles;
  planner::TableSizes sizes;                  // of its tables, where they were looked at
  bool depends_on_sizes = false;
  std::chrono::steady_clock::time_point planned_at = std::chrono::steady_clock::now();
  /// Plans of the statement for transactions that have changed rows of these tables; made when first needed.
  mutable std::map<std::set<sql::Oid>, planner::PhysicalPlan> over_changes;
  double planning_milliseconds = 0;
};

/// Returns true if the plan's rights were found to be good for the session's role, and roles have not changed since.
inline bool has_checked_rights(const PreparedPlan& plan, const SessionState& session) {
  const bool is_for_role = !plan.planned.rights.depends_on_role || plan.role == session.role;
  return is_for_role && plan.checked_role == session.role && plan.checked_roles == sql::known_roles();
}

}  // namespace redquel::executor
