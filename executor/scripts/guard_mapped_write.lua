-- Decides, as redquel's own login, whether another Redis user may write keys of foreign tables in the transaction (MULTI) that follows. It
-- watches redquel:version, redquel:versions and the locks. Where he may not write, redquel:versions is touched, and the transaction fails.
-- KEYS: none.
-- ARGV: those of shared/mapped_changes.lua up to the locks; then pairs: a set of rows that a structure may lack, a row.
-- Replies: {"free"}, or the answer of mapped.guard in shared/mapped_changes.lua.
-- Changes: these sets.
-- Holds Redis: a microsecond for each lock and row.
--#include "executor/scripts/shared/mapped_changes.lua"
local ok, answer = pcall(function()
  local refused = mapped.guard(ARGV)
  if refused then return refused end
  for i = mapped.position, #ARGV, 2 do redis.call('SADD', ARGV[i], ARGV[i + 1]) end
end)
if ok and not answer then return {'free'} end
redis.call('PEXPIRE', kVersionsKey, 1000000000000)
redis.call('PERSIST', kVersionsKey)
if type(answer) ~= 'table' then return redis.error_reply(tostring(answer)) end
return answer
