-- Shows a reader the commits of one bucket; the rows are read in the same transaction of Redis.
-- KEYS: a key of the bucket.
-- ARGV: the number of the last applied commit that the reader knows.
-- Replies: {number of the last applied commit, highest number that is forgotten, names of prepared commits, names of later applied ones}.
-- Changes: nothing (EVALSHA_RO).
-- Holds Redis: four commands.
--#include "executor/scripts/shared/bucket.lua"
local numbers = redis.call('HMGET', kCommitNumbersKey, 'number', 'trimmed')
local later = redis.call('ZRANGE', kAppliedKey, '(' .. ARGV[1], '+inf', 'BYSCORE')
return {tonumber(numbers[1] or 0), tonumber(numbers[2] or 0), redis.call('HKEYS', kPreparedKey), later}
