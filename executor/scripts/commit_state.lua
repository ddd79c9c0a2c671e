-- Looks up the state of a commit in one bucket.
-- KEYS: a key of the bucket.
-- ARGV: name of the commit.
-- Replies: "applied", "prepared" or "never".
-- Changes: nothing (EVALSHA_RO).
-- Holds Redis: three commands.
--#include "executor/scripts/shared/bucket.lua"
if redis.call('ZSCORE', kAppliedKey, ARGV[1]) then return 'applied' end
return redis.call('HEXISTS', kPreparedKey, ARGV[1]) == 1 and 'prepared' or 'never'
