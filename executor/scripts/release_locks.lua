-- Gives locks of one table back, or looks whether they are still held.
-- KEYS: the locks of the table.
-- ARGV: token; 1 if they are given back, else 0; fields.
-- Replies: how many are not held any more, one more if the lease has ended.
-- Changes: the fields.
-- Holds Redis: two commands for each field, at most 2,000.
--#include "executor/scripts/shared/locks.lua"
local lost, gives_back = 0, ARGV[2] == '1'
if gives_back then
  --#include "executor/scripts/shared/first_write.lua"
end
if not is_alive(ARGV[1]) then lost = 1 end
for i = 3, #ARGV do
  local value = redis.call('HGET', KEYS[1], ARGV[i])
  local left, is_own = {}, false
  for mode, token in string.gmatch(value or '', kLockPattern) do
    if token ~= ARGV[1] then left[#left + 1] = mode .. token else is_own = true end
  end
  if not is_own then lost = lost + 1 end
  if value and gives_back then
    if #left == 0 then redis.call('HDEL', KEYS[1], ARGV[i])
    else redis.call('HSET', KEYS[1], ARGV[i], table.concat(left, ' ')) end
  end
end
return lost
