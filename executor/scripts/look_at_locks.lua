-- Looks at some of the row locks of a table that lock_table has locked. If one conflicts, or a large transaction has begun to commit
-- (it gives its locks back before it writes), the table's lock goes.
-- KEYS: the locks of the table.
-- ARGV: token; mode; how many; oid; cursor.
-- Replies: {"next", cursor}; {"locked", holder, field}; {"exclusive"}; {"lost"}.
-- Changes: the field of the table.
-- Holds Redis: one look at each of so many locks (2,000).
--#include "executor/scripts/shared/locks.lua"
--#include "executor/scripts/shared/table_conflicts.lua"
local call = redis.call
local token, wanted = ARGV[1], tonumber(ARGV[2])
if not is_alive(token) then return {'lost'} end
local function unlock()
  local left = {}
  for own, of in string.gmatch(call('HGET', KEYS[1], 't') or '', kLockPattern) do
    if of ~= token or tonumber(own) ~= wanted then left[#left + 1] = own .. of end
  end
  --#include "executor/scripts/shared/first_write.lua"
  if #left == 0 then call('HDEL', KEYS[1], 't') else call('HSET', KEYS[1], 't', table.concat(left, ' ')) end
end
if call('HEXISTS', kExclusiveKey, ARGV[4]) == 1 then
  unlock()
  return {'exclusive'}
end
local answer = call('HSCAN', KEYS[1], ARGV[5], 'COUNT', ARGV[3])
local locks = answer[2]
for i = 1, #locks, 2 do
  if locks[i] ~= 't' then
    for mode, holder in string.gmatch(locks[i + 1], kLockPattern) do
      if holder ~= token and conflicts_with_row(wanted, mode) and is_alive(holder) then
        unlock()
        return {'locked', holder, locks[i]}
      end
    end
  end
end
return {'next', answer[1]}
