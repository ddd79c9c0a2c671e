-- Writes rows together with a change of definitions and keys of foreign tables.
-- KEYS: those of write_rows_and_catalog.
-- ARGV: number of words of a program; these; those of write_rows_and_catalog.
-- Replies: those of write_rows; {"mapped", …} with the answer of shared/write_program.lua.
-- Changes: what all three change.
-- Holds Redis: as long as all three.
local function others_write(KEYS, ARGV)
--#include "executor/scripts/write_rows_and_catalog.lua"
end
--#include "executor/scripts/shared/write_program.lua"
--#include "executor/scripts/shared/write_around.lua"
