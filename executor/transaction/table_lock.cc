#include "executor/transaction/table_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "executor/redis/redis_error.h"
#include "executor/runtime/lease_keeper.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/exclusive_tables.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Row locks that one script looks at, each about a microsecond of Redis.
constexpr std::size_t kLocksLookedAt = 2000;

/// The answer of lock_table.lua and look_at_locks.lua.
struct TableLockAnswer {
  enum class Outcome { kDone, kLook, kNext, kLocked, kExclusive, kLost } outcome = Outcome::kLost;
  std::string cursor;         // of kNext: "0" at the end
  std::string holder, field;  // of kLocked
};
using LockOutcome = TableLockAnswer::Outcome;

TableLockAnswer decode_lock_answer(std::span<const Reply> reply) {
  constexpr std::pair<std::string_view, LockOutcome> kOutcomes[] = {
      {"done", LockOutcome::kDone},     {"look", LockOutcome::kLook},           {"next", LockOutcome::kNext},
      {"locked", LockOutcome::kLocked}, {"exclusive", LockOutcome::kExclusive}, {"lost", LockOutcome::kLost}};
  const std::string_view word = reply.empty() ? std::string_view() : reply[0].text;
  const auto found = std::ranges::find(kOutcomes, word, &std::pair<std::string_view, LockOutcome>::first);
  if (found == std::end(kOutcomes)) throw unexpected_reply("EVALSHA", "a result of the scripts that lock tables");
  TableLockAnswer answer{found->second, {}, {}, {}};
  const std::size_t words = answer.outcome == LockOutcome::kLocked ? 3 : answer.outcome == LockOutcome::kNext ? 2 : 1;
  if (reply.size() < words) throw unexpected_reply("EVALSHA", "all of a result of the scripts that lock tables");
  if (answer.outcome == LockOutcome::kNext) answer.cursor = std::string(reply[1].text);
  if (answer.outcome == LockOutcome::kLocked) {
    answer.holder = std::string(reply[1].text);
    answer.field = std::string(reply[2].text);
  }
  return answer;
}

asio::awaitable<TableLockAnswer> ask_for_lock(RedisClient& redis, const Script& script, std::vector<std::string> keys,
                                              std::vector<std::string> arguments) {
  const RepliesPtr replies = co_await run_script(redis, script, keys, arguments);
  co_return decode_lock_answer(replies->array(0));
}

/// Looks at all locks of the table, in bounded steps. Returns the last step's answer.
asio::awaitable<TableLockAnswer> look_at_locks(RedisClient& redis, std::vector<std::string> keys, std::vector<std::string> arguments) {
  arguments.push_back("0");
  while (true) {
    TableLockAnswer answer = co_await ask_for_lock(redis, kLookAtLocksScript, keys, arguments);
    if (answer.outcome != LockOutcome::kNext || answer.cursor == "0") co_return answer;
    arguments.back() = std::move(answer.cursor);
  }
}

}  // namespace

asio::awaitable<void> take_table_lock(RedisClient& redis, Transaction& transaction, const sql::TableDef& table, std::int32_t mode, bool no_wait,
                                      LockWaitLimits limits, std::minstd_rand& random) {
  const std::vector<std::string> keys{lock_key(table)};
  LockSet& locks = transaction.locks();
  const LockDeadline deadline = lock_deadline(limits.lock_timeout);
  while (true) {
    const std::vector<std::string> arguments{locks.token, std::to_string(mode), std::to_string(kLocksLookedAt), std::to_string(table.oid)};
    TableLockAnswer answer = co_await ask_for_lock(redis, kLockTableScript, keys, arguments);
    if (answer.outcome == LockOutcome::kLook) {
      const bool had_another = locks.contains(table, "t");
      locks.add(table, "t");  // whatever ends the walk, the transaction's end gives it back
      answer = co_await look_at_locks(redis, keys, arguments);
      if (answer.outcome != LockOutcome::kNext && !had_another) locks.remove(table, "t");
    }
    if (answer.outcome == LockOutcome::kLost) throw lapsed_lock();
    if (answer.outcome != LockOutcome::kLocked && answer.outcome != LockOutcome::kExclusive) break;
    if (no_wait) end_leases_of_the_dead();
    if (no_wait) throw sql::SqlError(sqlstate::kLockNotAvailable, fmt::format("could not obtain lock on relation \"{}\"", table.name));
    if (answer.outcome == LockOutcome::kExclusive) {
      std::vector<PlacedTable> waited_for{table};
      co_await wait_while_exclusive(redis, std::move(waited_for), deadline);
      continue;
    }
    LockConflict conflict{std::move(answer.holder), keys[0], std::move(answer.field)};
    std::string token = locks.token;
    co_await wait_for_lock(redis, std::move(conflict), std::move(token), limits, random);
  }
  locks.add(table, "t");
}

}  // namespace redquel::executor
