-- Runs a program of shared/write_program.lua: all of its effects, or none.
-- KEYS: none; in a cluster a key of the bucket, or one of the slot of an application's keys, which never exists.
-- ARGV: the program.
-- Replies: those of shared/write_program.lua.
-- Changes: what the effects say.
-- Holds Redis: some microseconds for each step, of which a unit of a foreign table's rows has at most 40,000.
--#steps rows
--#include "executor/scripts/shared/write_program.lua"
local answer, first = check(ARGV)
return answer or apply(ARGV, first)
