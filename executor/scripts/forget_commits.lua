-- Removes commits from the list of applied ones. The caller knows that all their buckets have applied them, on their replicas.
-- KEYS: a key of the bucket.
-- ARGV: names of commits.
-- Replies: "forgotten".
-- Changes: the list.
-- Holds Redis: four commands for each; the caller bounds them.
--#include "executor/scripts/shared/bucket.lua"
local trimmed = tonumber(redis.call('HGET', kCommitNumbersKey, 'trimmed') or 0)
for i = 1, #ARGV do
  trimmed = math.max(trimmed, tonumber(redis.call('ZSCORE', kAppliedKey, ARGV[i]) or 0))
  redis.call('ZREM', kAppliedKey, ARGV[i])
  redis.call('ZREM', kAppliedTimesKey, ARGV[i])
end
redis.call('HSET', kCommitNumbersKey, 'trimmed', string.format('%.0f', trimmed))
return 'forgotten'
