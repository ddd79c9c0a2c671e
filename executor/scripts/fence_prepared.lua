-- Finds out the states of commits in one bucket. A commit that is not prepared by now never will be.
-- KEYS: a key of the bucket.
-- ARGV: names of commits.
-- Replies: "applied", "prepared" or "aborted"; an array of them for several names.
-- Changes: tombstones; always something, for the WAIT behind it.
-- Holds Redis: some commands for each name; the caller bounds them.
--#include "executor/scripts/shared/bucket.lua"
--#include "executor/scripts/shared/commit_record.lua"
touch()
local words = {}
for i, name in ipairs(ARGV) do
  if redis.call('ZSCORE', kAppliedKey, name) then
    words[i] = 'applied'
  elseif redis.call('HEXISTS', kPreparedKey, name) == 1 then
    words[i] = 'prepared'
  else
    bury(name)
    words[i] = 'aborted'
  end
end
return #words == 1 and words[1] or words
