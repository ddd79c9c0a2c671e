// Functions about the write-ahead log and recovery (manual 9.27.3, 9.27.4), which programs that watch servers ask: nothing is ever
// recovered here, and there is no log to have a position.

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

constexpr Volatility kVolatile = Volatility::kVolatile;

std::optional<std::int64_t> nothing_replayed() { return std::nullopt; }

[[noreturn]] void refuse_outside_of_recovery() {
  throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "recovery is not in progress")
      .hint("Recovery control functions can only be executed during recovery.");
}
bool answer_in_recovery() { refuse_outside_of_recovery(); }
void pause_state(std::string&) { refuse_outside_of_recovery(); }
bool promote(bool, std::int32_t) { refuse_outside_of_recovery(); }
bool promote_in_a_minute(bool) { refuse_outside_of_recovery(); }

template <std::size_t number>
std::int64_t refuse_position() {
  constexpr std::string_view kFunctions[] = {"pg_current_wal_lsn", "pg_current_wal_insert_lsn", "pg_current_wal_flush_lsn", "pg_switch_wal"};
  throw not_supported(std::string(kFunctions[number]) + "()");
}
void refuse_file_name(std::int64_t, std::string&) { throw not_supported("pg_walfile_name()"); }

}  // namespace

std::vector<ScalarFunction> recovery_functions() {
  return {
      scalar<nothing_replayed>("pg_last_wal_receive_lsn", {}, kPgLsn, kVolatile),
      scalar<nothing_replayed>("pg_last_wal_replay_lsn", {}, kPgLsn, kVolatile),
      scalar<nothing_replayed>("pg_last_xact_replay_timestamp", {}, kTimestamptz, kVolatile),
      scalar<answer_in_recovery>("pg_is_wal_replay_paused", {}, kBool, kVolatile),
      scalar<pause_state>("pg_get_wal_replay_pause_state", {}, kText, kVolatile),
      scalar<pause_state>("pg_wal_replay_pause", {}, kVoid, kVolatile),
      scalar<pause_state>("pg_wal_replay_resume", {}, kVoid, kVolatile),
      scalar<answer_in_recovery>("pg_promote", {}, kBool, kVolatile),
      scalar<promote_in_a_minute>("pg_promote", {kBool}, kBool, kVolatile),
      scalar<promote>("pg_promote", {kBool, kInt4}, kBool, kVolatile),
      scalar<refuse_position<0>>("pg_current_wal_lsn", {}, kPgLsn, kVolatile),
      scalar<refuse_position<1>>("pg_current_wal_insert_lsn", {}, kPgLsn, kVolatile),
      scalar<refuse_position<2>>("pg_current_wal_flush_lsn", {}, kPgLsn, kVolatile),
      scalar<refuse_position<3>>("pg_switch_wal", {}, kPgLsn, kVolatile),
      scalar<refuse_file_name>("pg_walfile_name", {kPgLsn}, kText),
  };
}

}  // namespace redquel::sql
