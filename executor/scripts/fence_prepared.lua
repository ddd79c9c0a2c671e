-- Finds out the state of a commit in one bucket. A commit that is not prepared by now never will be.
-- KEYS: a key of the bucket.
-- ARGV: name of the commit.
-- Replies: "applied", "prepared" or "aborted".
-- Changes: tombstones; always something, for the WAIT behind it.
-- Holds Redis: some commands.
--#include "executor/scripts/shared/bucket.lua"
--#include "executor/scripts/shared/commit_record.lua"
touch()
if redis.call('ZSCORE', kAppliedKey, ARGV[1]) then return 'applied' end
if redis.call('HEXISTS', kPreparedKey, ARGV[1]) == 1 then return 'prepared' end
bury(ARGV[1])
return 'aborted'
