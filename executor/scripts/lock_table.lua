-- Locks a table (LOCK TABLE). Locks of rows and values by others mean what PostgreSQL's statements lock: ROW EXCLUSIVE for those of
-- writes, ROW SHARE for the shared ones of SELECT.
-- KEYS: the locks of the table.
-- ARGV: token; mode (1 ACCESS SHARE to 8 ACCESS EXCLUSIVE); how many fields may be looked at together; oid.
-- Replies: {"done"}; {"look"}: the table is locked, so that no others lock more of its rows, but look_at_locks must look at those that
--   are locked; {"locked", holder, field}; {"exclusive"}: a journaled unit has the table for itself; {"lost"}: the own lease has ended.
-- Changes: the field of the table.
-- Holds Redis: one look at each lock of the table, at most so many as the caller allows (2,000).
--#include "executor/scripts/shared/locks.lua"
--#include "executor/scripts/shared/table_conflicts.lua"
local call = redis.call
local token, wanted = ARGV[1], tonumber(ARGV[2])
if not is_alive(token) then return {'lost'} end
if call('HEXISTS', kExclusiveKey, ARGV[4]) == 1 then return {'exclusive'} end
local left, is_own = {}, false
for mode, holder in string.gmatch(call('HGET', KEYS[1], 't') or '', kLockPattern) do
  if holder == token then
    is_own = is_own or tonumber(mode) == wanted
    left[#left + 1] = mode .. holder
  elseif is_alive(holder) then
    if tables_conflict(wanted, tonumber(mode)) then return {'locked', holder, 't'} end
    left[#left + 1] = mode .. holder
  end
end
local must_look = not is_own and stops_writes(wanted) and call('HLEN', KEYS[1]) > tonumber(ARGV[3])
if not is_own and stops_writes(wanted) and not must_look then
  local locks = call('HGETALL', KEYS[1])
  for i = 1, #locks, 2 do
    if locks[i] ~= 't' then
      for mode, holder in string.gmatch(locks[i + 1], kLockPattern) do
        if holder ~= token and conflicts_with_row(wanted, mode) and is_alive(holder) then return {'locked', holder, locks[i]} end
      end
    end
  end
end
if not is_own then left[#left + 1] = wanted .. token end
--#include "executor/scripts/shared/first_write.lua"
call('HSET', KEYS[1], 't', table.concat(left, ' '))
return {must_look and 'look' or 'done'}
