-- Writes keys of foreign tables, if everything is as the caller has read it.
-- KEYS: none; in a cluster a key of the slot of all other keys, which never exists.
-- ARGV: those of shared/mapped_changes.lua. Without a version guard_mapped_write.lua has looked at version and locks.
-- Replies: {"applied"}, or the answer of `check` in shared/mapped_changes.lua.
-- Changes: what the commands say, in any logical database.
-- Holds Redis: a microsecond for each command, at most 40,000.
--#include "executor/scripts/shared/mapped_changes.lua"
local answer = (ARGV[1] == '' and mapped.locks or mapped.guard)(ARGV) or mapped.compare(ARGV)
if answer then return answer end
mapped.write(ARGV)
return {'applied'}
