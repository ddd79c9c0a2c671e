-- Sets a bucket's copy of the definitions' version, if it still has the value that the caller has read.
-- KEYS: redquel:version of the bucket.
-- ARGV: the value that was read ("": none); the new one.
-- Replies: 1 if it was set, else 0.
-- Changes: the key.
-- Holds Redis: two commands.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
--#include "executor/scripts/shared/first_write.lua"
redis.call('SET', KEYS[1], ARGV[2])
return 1
