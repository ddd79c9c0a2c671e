// pg_stat_get_live_tuples() and its like (manual 28.2.27): clients ask them with the definitions of tables. There are no statistics:
// every count is 0, and nothing was ever vacuumed.

#include "sql/catalog/role_set.h"
#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/statistics.h"

namespace redquel::sql {

namespace {

constexpr Volatility kVolatile = Volatility::kVolatile;

std::optional<std::int64_t> never(std::int32_t) { return std::nullopt; }
std::optional<std::int64_t> never_counted() { return std::nullopt; }
void reset_one(std::int32_t, std::string&) {}
void reset(std::string&) {}

/// pg_stat_statements_reset(); 0: of all roles, databases, statements. 42501, because PostgreSQL revokes it from PUBLIC.
void forget_statements(Context context, std::int32_t role, std::int32_t database, std::int64_t query_id, std::string&) {
  const RoleDef* current = known_roles()->find(context.user);
  if (current == nullptr || !current->superuser) {
    throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied for function pg_stat_statements_reset");
  }
  if (statistics_hooks().reset_statements != nullptr) {
    statistics_hooks().reset_statements(static_cast<Oid>(role), static_cast<Oid>(database), query_id);
  }
}
void forget_all_statements(Context context, std::string& out) { forget_statements(context, 0, 0, 0, out); }

/// 22023 for a name that is none of those known.
void check_target(Text name) {
  for (const Text known : {"archiver", "bgwriter", "recovery_prefetch", "wal"}) {
    if (name == known) return;
  }
  throw SqlError(sqlstate::kInvalidParameterValue, "unrecognized reset target: \"" + std::string(name) + "\"")
      .hint("Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".");
}

bool has_statistics(Text kind, std::int32_t, std::int32_t) {
  for (const Text known : {"database", "relation", "function", "replslot", "subscription", "archiver", "bgwriter", "checkpointer", "slru", "wal"}) {
    if (kind == known) return false;
  }
  throw SqlError(sqlstate::kInvalidParameterValue, "invalid statistics kind: \"" + std::string(kind) + "\"");
}

}  // namespace

std::vector<ScalarFunction> statistics_functions() {
  constexpr std::string_view kCounts[] = {
      "pg_stat_get_numscans",          "pg_stat_get_tuples_returned",      "pg_stat_get_tuples_fetched",     "pg_stat_get_tuples_inserted",
      "pg_stat_get_tuples_updated",    "pg_stat_get_tuples_deleted",       "pg_stat_get_tuples_hot_updated", "pg_stat_get_live_tuples",
      "pg_stat_get_dead_tuples",       "pg_stat_get_mod_since_analyze",    "pg_stat_get_ins_since_vacuum",   "pg_stat_get_blocks_fetched",
      "pg_stat_get_blocks_hit",        "pg_stat_get_vacuum_count",         "pg_stat_get_autovacuum_count",   "pg_stat_get_analyze_count",
      "pg_stat_get_autoanalyze_count", "pg_stat_get_db_xact_commit",       "pg_stat_get_db_xact_rollback",   "pg_stat_get_db_blocks_fetched",
      "pg_stat_get_db_blocks_hit",     "pg_stat_get_db_tuples_returned",   "pg_stat_get_db_tuples_fetched",  "pg_stat_get_db_tuples_inserted",
      "pg_stat_get_db_tuples_updated", "pg_stat_get_db_tuples_deleted",    "pg_stat_get_db_deadlocks",       "pg_stat_get_db_conflict_all",
      "pg_stat_get_db_temp_files",     "pg_stat_get_db_temp_bytes",        "pg_stat_get_db_conflict_lock",   "pg_stat_get_db_conflict_snapshot",
      "pg_stat_get_db_conflict_bufferpin", "pg_stat_get_db_conflict_startup_deadlock", "pg_stat_get_db_conflict_tablespace",
      "pg_stat_get_db_sessions",       "pg_stat_get_db_sessions_abandoned", "pg_stat_get_db_sessions_fatal", "pg_stat_get_db_sessions_killed",
      "pg_stat_get_xact_numscans",     "pg_stat_get_xact_tuples_returned", "pg_stat_get_xact_tuples_fetched", "pg_stat_get_xact_tuples_inserted",
      "pg_stat_get_xact_tuples_updated", "pg_stat_get_xact_tuples_deleted", "pg_stat_get_xact_tuples_hot_updated",
      "pg_stat_get_xact_blocks_fetched", "pg_stat_get_xact_blocks_hit",
  };
  constexpr std::string_view kTimes[] = {"pg_stat_get_last_vacuum_time", "pg_stat_get_last_autovacuum_time", "pg_stat_get_last_analyze_time",
                                         "pg_stat_get_last_autoanalyze_time", "pg_stat_get_db_stat_reset_time",
                                         "pg_stat_get_db_checksum_last_failure"};
  constexpr std::string_view kDurations[] = {"pg_stat_get_db_blk_read_time", "pg_stat_get_db_blk_write_time", "pg_stat_get_db_session_time",
                                             "pg_stat_get_db_active_time", "pg_stat_get_db_idle_in_transaction_time"};
  // Statistics of functions, which are not tracked, and of checksums, which do not exist.
  constexpr std::string_view kUncounted[] = {"pg_stat_get_function_calls", "pg_stat_get_xact_function_calls", "pg_stat_get_db_checksum_failures"};
  constexpr std::string_view kUntimed[] = {"pg_stat_get_function_total_time", "pg_stat_get_function_self_time",
                                           "pg_stat_get_xact_function_total_time", "pg_stat_get_xact_function_self_time"};
  constexpr std::string_view kServerCounts[] = {
      "pg_stat_get_bgwriter_timed_checkpoints",   "pg_stat_get_bgwriter_requested_checkpoints", "pg_stat_get_bgwriter_buf_written_checkpoints",
      "pg_stat_get_bgwriter_buf_written_clean",   "pg_stat_get_bgwriter_maxwritten_clean",      "pg_stat_get_buf_written_backend",
      "pg_stat_get_buf_fsync_backend",            "pg_stat_get_buf_alloc"};
  constexpr std::string_view kServerDurations[] = {"pg_stat_get_checkpoint_write_time", "pg_stat_get_checkpoint_sync_time"};
  constexpr std::string_view kServerTimes[] = {"pg_stat_get_bgwriter_stat_reset_time", "pg_stat_get_snapshot_timestamp"};
  constexpr std::string_view kResets[] = {"pg_stat_reset", "pg_stat_clear_snapshot", "pg_stat_force_next_flush"};
  constexpr std::string_view kResetsOfOne[] = {"pg_stat_reset_single_table_counters", "pg_stat_reset_single_function_counters"};
  std::vector<ScalarFunction> table;
  for (const std::string_view name : kCounts) table.push_back(scalar<[](std::int32_t) { return std::int64_t{0}; }>(name, {kOidType}, kInt8, kStable));
  for (const std::string_view name : kTimes) {
    table.push_back(scalar<never>(name, {kOidType}, kTimestamptz, kStable));
  }
  for (const std::string_view name : kDurations) table.push_back(scalar<[](std::int32_t) { return 0.0; }>(name, {kOidType}, kFloat8, kStable));
  for (const std::string_view name : kUncounted) table.push_back(scalar<never>(name, {kOidType}, kInt8, kStable));
  for (const std::string_view name : kUntimed) {
    table.push_back(scalar<[](std::int32_t) -> std::optional<double> { return std::nullopt; }>(name, {kOidType}, kFloat8, kStable));
  }
  for (const std::string_view name : kServerCounts) table.push_back(scalar<[] { return std::int64_t{0}; }>(name, {}, kInt8, kStable));
  for (const std::string_view name : kServerDurations) table.push_back(scalar<[] { return 0.0; }>(name, {}, kFloat8, kStable));
  for (const std::string_view name : kServerTimes) table.push_back(scalar<never_counted>(name, {}, kTimestamptz, kStable));
  for (const std::string_view name : kResets) table.push_back(scalar<reset>(name, {}, kVoid, kVolatile));
  for (const std::string_view name : kResetsOfOne) table.push_back(scalar<reset_one>(name, {kOidType}, kVoid, kVolatile));
  table.push_back(scalar<[](Text name, std::string&) { check_target(name); }>("pg_stat_reset_shared", {kText}, kVoid, kVolatile));
  table.push_back(scalar<has_statistics>("pg_stat_have_stats", {kText, kOidType, kOidType}, kBool, kVolatile));
  table.push_back(scalar<forget_all_statements>("pg_stat_statements_reset", {}, kVoid, kVolatile));
  table.push_back(scalar<forget_statements>("pg_stat_statements_reset", {kOidType, kOidType, kInt8}, kVoid, kVolatile));
  return table;
}

}  // namespace redquel::sql
