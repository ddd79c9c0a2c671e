-- Runs a program as write.lua does, with the steps of many rows: what their checks find is noted and the others still run, so that the
-- encoder knows the first violation of the statement and all rows to skip.
-- KEYS: none; in a cluster a key of the bucket.
-- ARGV: the program.
-- Replies: those of shared/write_program.lua; {"found", position, index, detail, position, …}: nothing was applied, but locks were taken if
--   the program takes any.
-- Changes: what the effects say; locks. The time to live of the own lease.
-- Holds Redis: about 20 µs a row: at most redquel.max_write_rows rows (100,000), 2,000 in a journaled unit; programs that only verify look
--   at 4,000 things.
--#steps many definitions rows mend
--#include "executor/scripts/shared/many_rows.lua"
--#include "executor/scripts/shared/catalog_change.lua"
local change_catalog
--#include "executor/scripts/shared/write_program.lua"
local answer, first = check(ARGV)
if answer then return answer end
if changed_locks.are_taken then write_locks() end
if found then return found end
answer = apply(ARGV, first)
if answer[1] == 'applied' then write_locks() end
return answer
