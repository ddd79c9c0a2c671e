#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/session_settings.h"

namespace redquel::planner {

/// The source of a write or a locking clause for one of its rows, over values in parameter slots: the newest versions
/// of the rows that are changed or locked, and what the source had read of all other relations (PostgreSQL's
/// EvalPlanQual). It gives the row again, with what depends on the new versions, or nothing where the conditions refuse
/// it.
struct Recheck {
  PhysicalPlan plan;  // columns: those of the source
  struct Target {
    std::uint32_t is_there = 0;                                  // slot of a boolean: whether there is such a row
    std::vector<std::pair<std::uint32_t, std::int16_t>> values;  // slot, column number; 0 is the hidden key
    /// Columns at which subqueries look whose answers were kept: the plan is right where a row has not changed in
    /// these.
    std::set<std::int16_t> looked_at;
  };
  std::vector<Target> targets;                              // parallel to RecheckSource::targets
  std::vector<std::pair<std::uint32_t, std::size_t>> kept;  // slot, position in the source
  std::uint32_t slot_count = 0;
};

/// The answers of subqueries that look at columns of the changed rows: those of before, or new ones.
enum class SubqueryAnswers : std::uint8_t { kKept, kNew };

/// Plans it with slots from `first_slot` on. Nullopt: the source has a form whose rows are not made of one row of each
/// relation.
std::optional<Recheck> plan_recheck(const RecheckSource& source, const sql::SessionSettings& settings,
                                    const std::set<sql::Oid>& changed_tables, std::uint32_t first_slot,
                                    SubqueryAnswers answers);

}  // namespace redquel::planner
