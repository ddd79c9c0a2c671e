-- Removes the index entries of expired rows of one table. A row whose expiry was taken away is looked at again after an hour.
-- KEYS: redquel:expiring.
-- ARGV: prefix of the table; how many rows.
-- Replies: {rows looked at, rows that were gone}.
-- Changes: entries of expired rows.
-- Holds Redis: some commands for each entry of at most 200 rows.
--#include "executor/scripts/shared/listed_entries.lua"
local call = redis.call
local due, entries = ARGV[1] .. ':zset:%ttl', ARGV[1] .. ':indices:%ttl'
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local members, gone = call('ZRANGEBYSCORE', due, '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[2]), 0
for _, member in ipairs(members) do
  local listed = call('HGET', entries, member)
  local left = -2
  if listed then left = call('PTTL', row_of(listed)) end
  if left == -2 then
    if listed then forget(listed, member) end
    call('HDEL', entries, member)
    call('ZREM', due, member)
    gone = gone + 1
  else
    call('ZADD', due, string.format('%.0f', now + (left == -1 and 3600000 or left + 1)), member)
  end
end
if call('EXISTS', due) == 0 then call('SREM', KEYS[1], ARGV[1]) end
return {#members, gone}
