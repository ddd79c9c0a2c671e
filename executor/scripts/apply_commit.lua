-- Applies a commit that is prepared in all its buckets.
-- KEYS: a key of the bucket.
-- ARGV: name of the commit.
-- Replies: "applied"; "unknown": it was applied long ago and is forgotten.
-- Changes: definitions, rows, index entries, locks, counters of changes; the record becomes an entry of the applied commits.
-- Holds Redis: as long as write_rows.
-- Flags: allow-oom
--#include "executor/scripts/shared/bucket.lua"
local name = ARGV[1]
--#include "executor/scripts/shared/commit_record.lua"
local record = redis.call('HGET', kPreparedKey, name)
if not record then
  touch()
  return redis.call('ZSCORE', kAppliedKey, name) and 'applied' or 'unknown'
end
local keys, redo, locks, expiries, definitions, reading = unpack(cmsgpack.unpack(record), 1, 6)
local now = milliseconds()
local function note()
  remove_record(name)
  redis.call('ZADD', kAppliedKey, redis.call('HINCRBY', kCommitNumbersKey, 'number', 1), name)
  redis.call('ZADD', kAppliedTimesKey, string.format('%.0f', now), name)
  return 'applied'
end
-- The record of plain_prepare.lua.
if redo == false then
  local call, argv, p = redis.call, cmsgpack.unpack(keys), 1
  local last = p + argv[p]
  for i = p + 1, last do call('INCR', argv[i]) end
  p = last + 1
  --#include "executor/scripts/shared/plain_changes.lua"
  unlock(name, locks)
  return note()
end
--#include "executor/scripts/shared/definitions.lua"
local function rows(KEYS, ARGV)
--#include "executor/scripts/write_rows.lua"
end
-- Redis's time stands still in a script, and a row that is due lives until the script ends.
for _, expiry in ipairs(expiries) do
  redis.call('PEXPIREAT', expiry[1], string.format('%.0f', math.max(tonumber(expiry[2]), now + 1000)))
end
if definitions then
  define(definitions[2])
  end_definitions(name, definitions)
end
if #redo > 0 then
  local answer = rows(keys, redo)
  if answer.err then return answer end
  if answer[1] ~= 'applied' then return redis.error_reply('ERR a prepared commit cannot be applied: ' .. answer[1]) end
end
unlock_tables(name, reading)
return note()
