-- Takes, weakens or gives back the advisory lock of one token.
-- KEYS: the advisory locks.
-- ARGV: field; token; mode (4 exclusive, 1 shared, 0: the token's lock goes); 1 if locks of other tokens conflict, else 0.
-- Replies: the holder of a conflicting lock; "" if there is none.
-- Changes: the field. Removes what ended processes have left there.
-- Holds Redis: some commands for each holder of this lock.
local call, field, token, mode = redis.call, ARGV[1], ARGV[2], tonumber(ARGV[3])
local left, before = {}, call('HGET', KEYS[1], field)
if before then
  --#include "executor/scripts/shared/locks.lua"
  for other, holder in string.gmatch(before, kLockPattern) do
    if holder ~= token and is_alive(holder) then
      if ARGV[4] == '1' and rows_conflict(other, mode) then return holder end
      left[#left + 1] = other .. holder
    end
  end
end
if mode > 0 then left[#left + 1] = mode .. token end
if #left > 0 then call('HSET', KEYS[1], field, table.concat(left, ' ')) elseif before then call('HDEL', KEYS[1], field) end
return ''
