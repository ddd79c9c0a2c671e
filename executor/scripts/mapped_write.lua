-- Writes keys of foreign tables, if everything is as the caller has read it.
-- KEYS: none.
-- ARGV: those of shared/mapped_changes.lua.
-- Replies: {"applied"}, or the answer of `check` in shared/mapped_changes.lua.
-- Changes: what the commands say, in any logical database.
-- Holds Redis: a microsecond for each command, at most 40,000.
--#include "executor/scripts/shared/mapped_changes.lua"
local answer = mapped.check(ARGV)
if answer then return answer end
mapped.write(ARGV)
return {'applied'}
