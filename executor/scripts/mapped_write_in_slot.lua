-- Writes keys of foreign tables that lie in one slot of a cluster, if everything is as the caller has read it. Before it guard_mapped_write.lua
-- has looked at the version and the locks, which are in the home bucket.
-- KEYS: a key of the slot that never exists.
-- ARGV: those of shared/mapped_changes.lua, without a version, a token and locks.
-- Replies: {"applied"}, or the answer of mapped.compare in shared/mapped_changes.lua.
-- Changes: what the commands say. All their keys are in the slot.
-- Holds Redis: a microsecond for each command, at most 40,000.
--#include "executor/scripts/shared/mapped_changes.lua"
local answer = mapped.locks(ARGV) or mapped.compare(ARGV)
if answer then return answer end
mapped.write(ARGV)
return {'applied'}
