-- Removes commits from the list of applied ones. The caller knows that all their buckets have applied them, on their replicas.
-- KEYS: a key of the bucket.
-- ARGV: names of commits.
-- Replies: "forgotten".
-- Changes: the list.
-- Holds Redis: five commands; the caller bounds the names.
--#include "executor/scripts/shared/bucket.lua"
local trimmed = tonumber(redis.call('HGET', kCommitNumbersKey, 'trimmed') or 0)
-- Bounded: 500 names by the caller.
for _, number in ipairs(redis.call('ZMSCORE', kAppliedKey, unpack(ARGV))) do trimmed = math.max(trimmed, tonumber(number or 0)) end
redis.call('ZREM', kAppliedKey, unpack(ARGV))  -- bounded: 500 names by the caller
redis.call('ZREM', kAppliedTimesKey, unpack(ARGV))  -- bounded: 500 names by the caller
redis.call('HSET', kCommitNumbersKey, 'trimmed', string.format('%.0f', trimmed))
return 'forgotten'
