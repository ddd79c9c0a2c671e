-- Looks whether a lock is still held, notes who waits for it, and looks for a circle of waits. It reads only the waits of the circle.
-- KEYS: the locks of the table; redquel:waits.
-- ARGV: field; holder; own token or ""; 1 if it looks for a circle; own session.
-- Replies: "free"; "held"; "deadlock" and the holders of the circle.
-- Changes: the own entry of redquel:waits. Removes what ended processes have left there.
-- Holds Redis: some commands for each wait of the circle, at most 1,000.
--#include "executor/scripts/shared/locks.lua"
local call, field, holder, token, own = redis.call, ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local value = call('HGET', KEYS[1], field)
local is_held = false
if value and is_alive(holder) then
  for _, other in string.gmatch(value or '', kLockPattern) do is_held = is_held or other == holder end
end
if not is_held then
  if token ~= '' then call('HDEL', KEYS[2], own) end
  return 'free'
end
if token == '' then return 'held' end
local waits = KEYS[2]
local looks = ARGV[4] == '1'
--#include "executor/scripts/shared/circle_of_waits.lua"
return 'held'
