-- Prepares a commit in one bucket, by a program that ends with a record: checks what it needs, takes the locks, stores what is to be done.
-- The commit is decided when all its buckets have prepared it and their replicas have that.
-- KEYS: a key of the bucket.
-- ARGV: the program.
-- Replies: {"prepared"}; {"aborted"}: a tombstone is there; {"stop", …} and {"found", …} as of write_many.lua.
-- Changes: locks, the record, marks of tables, expiries of rows that the unit changes (they stay until the commit is applied or aborted).
-- Holds Redis: as long as the checks of write_many; with other prepared commits, one look at each lock of the tables that were read.
--#steps prepare rows many
--#include "executor/scripts/shared/many_rows.lua"
--#include "executor/scripts/shared/definitions.lua"
local commit, part
local locks, taken, expiries, reading = {}, {}, {}, {}
--#include "executor/scripts/shared/write_program.lua"
local answer, first = check(ARGV)
return answer or found or apply(ARGV, first)
