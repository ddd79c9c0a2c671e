-- Decides, as redquel's own login, whether another Redis user may write keys of foreign tables in the transaction (MULTI) that follows. It
-- watches redquel:version, redquel:versions and the locks. Where he may not write, redquel:versions is touched, and the transaction fails.
-- KEYS: none.
-- ARGV: a program whose guards look at version and locks.
-- Replies: those of shared/write_program.lua.
-- Changes: what its effects say: sets of rows that a structure may lack.
-- Holds Redis: a microsecond for each lock and row.
--#steps rows
--#include "executor/scripts/shared/write_program.lua"
local ok, answer = pcall(function()
  local stopped, first = check(ARGV)
  return stopped or apply(ARGV, first)
end)
if ok and answer[1] == 'applied' then return answer end
redis.call('PEXPIRE', kVersionsKey, 1000000000000)
redis.call('PERSIST', kVersionsKey)
if type(answer) ~= 'table' then return redis.error_reply(tostring(answer)) end
return answer
