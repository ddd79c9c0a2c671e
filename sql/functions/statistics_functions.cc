// pg_stat_get_live_tuples() and its like (manual 28.2.27): clients ask them with the definitions of tables. There are no statistics:
// every count is 0, and nothing was ever vacuumed.

#include "sql/functions/lift.h"
#include "sql/functions/more_families.h"

namespace redquel::sql {

std::vector<ScalarFunction> statistics_functions() {
  constexpr std::string_view kCounts[] = {
      "pg_stat_get_numscans",          "pg_stat_get_tuples_returned",      "pg_stat_get_tuples_fetched",     "pg_stat_get_tuples_inserted",
      "pg_stat_get_tuples_updated",    "pg_stat_get_tuples_deleted",       "pg_stat_get_tuples_hot_updated", "pg_stat_get_live_tuples",
      "pg_stat_get_dead_tuples",       "pg_stat_get_mod_since_analyze",    "pg_stat_get_ins_since_vacuum",   "pg_stat_get_blocks_fetched",
      "pg_stat_get_blocks_hit",        "pg_stat_get_vacuum_count",         "pg_stat_get_autovacuum_count",   "pg_stat_get_analyze_count",
      "pg_stat_get_autoanalyze_count", "pg_stat_get_db_xact_commit",       "pg_stat_get_db_xact_rollback",   "pg_stat_get_db_blocks_fetched",
      "pg_stat_get_db_blocks_hit",     "pg_stat_get_db_tuples_returned",   "pg_stat_get_db_tuples_fetched",  "pg_stat_get_db_tuples_inserted",
      "pg_stat_get_db_tuples_updated", "pg_stat_get_db_tuples_deleted",    "pg_stat_get_db_deadlocks",       "pg_stat_get_db_conflict_all",
      "pg_stat_get_db_temp_files",     "pg_stat_get_db_temp_bytes",
  };
  constexpr std::string_view kTimes[] = {"pg_stat_get_last_vacuum_time", "pg_stat_get_last_autovacuum_time", "pg_stat_get_last_analyze_time",
                                         "pg_stat_get_last_autoanalyze_time"};
  constexpr Volatility kStable = Volatility::kStable;
  std::vector<ScalarFunction> table;
  for (const std::string_view name : kCounts) table.push_back(scalar<[](std::int32_t) { return std::int64_t{0}; }>(name, {kOidType}, kInt8, kStable));
  for (const std::string_view name : kTimes) {
    table.push_back(scalar<[](std::int32_t) -> std::optional<std::int64_t> { return std::nullopt; }>(name, {kOidType}, kTimestamptz, kStable));
  }
  return table;
}

}  // namespace redquel::sql
