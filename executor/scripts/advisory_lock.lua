-- Takes, weakens or gives back the advisory lock of one token.
-- KEYS: the advisory locks.
-- ARGV: field; token; mode (4 exclusive, 1 shared, 0: the token's lock goes); 1 if locks of other tokens conflict, else 0.
-- Replies: the holder of a conflicting lock; "" if there is none; "lost" if the token's lock was to be weakened or given back, and is gone.
-- Changes: the field. Removes what ended processes have left there.
-- Holds Redis: some commands for each holder of this lock.
local call, field, token, mode = redis.call, ARGV[1], ARGV[2], tonumber(ARGV[3])
local left, before, answer = {}, call('HGET', KEYS[1], field), ''
if before or ARGV[4] == '0' then
  --#include "executor/scripts/shared/locks.lua"
  local is_own = false
  for other, holder in string.gmatch(before or '', kLockPattern) do
    if holder == token then
      is_own = true
    elseif is_alive(holder) then
      if ARGV[4] == '1' and rows_conflict(other, mode) then return holder end
      left[#left + 1] = other .. holder
    end
  end
  if ARGV[4] == '0' and not (is_own and is_alive(token)) then mode, answer = 0, 'lost' end
end
if mode > 0 then left[#left + 1] = mode .. token end
if #left > 0 then call('HSET', KEYS[1], field, table.concat(left, ' ')) elseif before then call('HDEL', KEYS[1], field) end
return answer
