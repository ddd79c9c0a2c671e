-- Takes or renews the lease of a process, also while Redis's memory is full: a transaction that deletes rows needs one.
-- KEYS: the lease.
-- ARGV: milliseconds; "new" if it is taken.
-- Replies: 1 if it was renewed, or taken where there was none.
-- Changes: the lease.
-- Holds Redis: three commands.
if ARGV[2] ~= 'new' then return redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
--#include "executor/scripts/shared/first_write.lua"
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 1
