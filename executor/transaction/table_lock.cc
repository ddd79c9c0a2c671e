#include "executor/transaction/table_lock.h"

#include <fmt/format.h>

#include "executor/redis/script.h"
#include "executor/storage/exclusive_tables.h"
#include "executor/storage/living_sessions.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

/// Row locks that one script looks at, each about a microsecond of Redis.
constexpr std::size_t kLocksLookedAt = 2000;

// Argument 1: token, 2: mode, 3: how many fields may be looked at together, 4: the table. 'exclusive': a unit of many rows is written
// into it. The row and value locks of others stand for the table locks that their statements have in PostgreSQL: ROW EXCLUSIVE for those
// of writes, ROW SHARE for the shared ones of SELECT. 'look': the table is locked, so that nobody locks more of its rows, but those that
// are locked must still be looked at.
const Script& lock_table_script() {
  static const Script kScript("lock_table", std::string(kLivingSessions) + R"lua(
local token, wanted = ARGV[1], tonumber(ARGV[2])
if not is_alive(token) then return {'lost'} end
if call('HEXISTS', 'redquel:exclusive', ARGV[4]) == 1 then return {'exclusive'} end
-- The weakest mode that conflicts with each; SHARE UPDATE EXCLUSIVE and the stronger ones except SHARE with themselves, too.
local weakest = {8, 7, 5, 4, 3, 3, 2, 1}
local function conflict(a, b)
  if a == 5 and b == 5 then return false end
  return b >= weakest[a]
end
local left, is_own = {}, false
for mode, holder in string.gmatch(call('HGET', KEYS[1], 't') or '', '(%d)(%S+)') do
  if holder == token then
    is_own = is_own or tonumber(mode) == wanted
    left[#left + 1] = mode .. holder
  elseif is_alive(holder) then
    if conflict(wanted, tonumber(mode)) then return {'locked', holder, 't'} end
    left[#left + 1] = mode .. holder
  end
end
local must_look = not is_own and wanted >= 5 and call('HLEN', KEYS[1]) > tonumber(ARGV[3])
if not is_own and wanted >= 5 and not must_look then
  local locks = call('HGETALL', KEYS[1])
  for i = 1, #locks, 2 do
    if locks[i] ~= 't' then
      for mode, holder in string.gmatch(locks[i + 1], '(%d)(%S+)') do
        if holder ~= token and (wanted >= 7 or tonumber(mode) >= 3) and is_alive(holder) then return {'locked', holder, locks[i]} end
      end
    end
  end
end
if not is_own then left[#left + 1] = wanted .. token end
call('UNLINK', 'redquel:none')  -- Redis whose memory is full refuses a script's first write only
call('HSET', KEYS[1], 't', table.concat(left, ' '))
return {must_look and 'look' or 'done'}
)lua");
  return kScript;
}

// Looks at some of the locks of a table that is locked. Arguments: token, mode, how many, table, cursor. The next cursor; or, where a lock
// is in the way, who has it, and the table is not locked any more; as where a large transaction has begun to commit, which gives its
// locks back before it writes.
const Script& look_script() {
  static const Script kScript("look_at_locks", std::string(kLivingSessions) + R"lua(
local token, wanted = ARGV[1], tonumber(ARGV[2])
if not is_alive(token) then return {'lost'} end
local function unlock()
  local left = {}
  for own, of in string.gmatch(call('HGET', KEYS[1], 't') or '', '(%d)(%S+)') do
    if of ~= token or tonumber(own) ~= wanted then left[#left + 1] = own .. of end
  end
  call('UNLINK', 'redquel:none')  -- as above
  if #left == 0 then call('HDEL', KEYS[1], 't') else call('HSET', KEYS[1], 't', table.concat(left, ' ')) end
end
if call('HEXISTS', 'redquel:exclusive', ARGV[4]) == 1 then
  unlock()
  return {'exclusive'}
end
local answer = call('HSCAN', KEYS[1], ARGV[5], 'COUNT', ARGV[3])
local locks = answer[2]
for i = 1, #locks, 2 do
  if locks[i] ~= 't' then
    for mode, holder in string.gmatch(locks[i + 1], '(%d)(%S+)') do
      if holder ~= token and (wanted >= 7 or tonumber(mode) >= 3) and is_alive(holder) then
        unlock()
        return {'locked', holder, locks[i]}
      end
    end
  end
end
return {'next', answer[1]}
)lua");
  return kScript;
}

/// Of a reply of the scripts above.
std::string_view word_of(const Replies& replies) {
  const std::span<const Reply> reply = replies.array(0);
  return reply.empty() ? std::string_view("lost") : reply[0].text;
}

/// All locks of the table, in bounded steps. The last step's reply.
asio::awaitable<RepliesPtr> look_at_locks(RedisClient& redis, std::vector<std::string> keys, std::vector<std::string> arguments) {
  arguments.push_back("0");
  while (true) {
    RepliesPtr replies = co_await run_script(redis, look_script(), keys, arguments);
    if (word_of(*replies) != "next") co_return replies;
    arguments.back() = std::string(replies->array(0)[1].text);
    if (arguments.back() == "0") co_return replies;
  }
}

}  // namespace

asio::awaitable<void> take_table_lock(RedisClient& redis, Transaction& transaction, const sql::TableDef& table, std::int32_t mode, bool no_wait,
                                      LockWaitLimits limits, std::minstd_rand& random) {
  const std::vector<std::string> keys{lock_key(table.oid)};
  LockSet& locks = transaction.locks();
  const LockDeadline deadline = lock_deadline(limits.lock_timeout);
  while (true) {
    const std::vector<std::string> arguments{locks.token, std::to_string(mode), std::to_string(kLocksLookedAt), std::to_string(table.oid)};
    RepliesPtr replies = co_await run_script(redis, lock_table_script(), keys, arguments);
    if (word_of(*replies) == "look") {
      const bool had_another = locks.contains(table.oid, "t");
      locks.add(table.oid, "t");  // whatever ends the walk, the transaction's end gives it back
      replies = co_await look_at_locks(redis, keys, arguments);
      if (word_of(*replies) != "next" && !had_another) locks.remove(table.oid, "t");
    }
    if (word_of(*replies) == "lost") throw lapsed_lock();
    if (word_of(*replies) != "locked" && word_of(*replies) != "exclusive") break;
    if (no_wait) throw sql::SqlError("55P03", fmt::format("could not obtain lock on relation \"{}\"", table.name));
    if (word_of(*replies) == "exclusive") {
      std::vector<sql::Oid> waited_for{table.oid};
      co_await wait_while_exclusive(redis, std::move(waited_for), deadline);
      continue;
    }
    const std::span<const Reply> reply = replies->array(0);
    LockConflict conflict{std::string(reply[1].text), keys[0], std::string(reply[2].text)};
    std::string token = locks.token;
    co_await wait_for_lock(redis, std::move(conflict), std::move(token), limits, random);
  }
  locks.add(table.oid, "t");
}

}  // namespace redquel::executor
