-- Writes rows together with keys of foreign tables.
-- KEYS: those of write_rows.
-- ARGV: number of words of a program; these; those of write_rows.
-- Replies: those of write_rows; {"mapped", …} with the answer of shared/write_program.lua.
-- Changes: what both change.
-- Holds Redis: as long as both.
local function others_write(KEYS, ARGV)
--#include "executor/scripts/write_rows.lua"
end
--#include "executor/scripts/shared/write_program.lua"
--#include "executor/scripts/shared/write_around.lua"
