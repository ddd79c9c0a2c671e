-- Applies a commit that is prepared in all its buckets.
-- KEYS: a key of the bucket.
-- ARGV: name of the commit.
-- Replies: "applied"; "unknown": it was applied long ago and is forgotten.
-- Changes: definitions, rows, index entries, locks, counters of changes; the record becomes an entry of the applied commits.
-- Holds Redis: as long as write_many.
-- Flags: allow-oom
--#steps rows many
--#include "executor/scripts/shared/bucket.lua"
local name = ARGV[1]
--#include "executor/scripts/shared/commit_record.lua"
local record = read_record(name)
if not record then
  touch()
  return redis.call('ZSCORE', kAppliedKey, name) and 'applied' or 'unknown'
end
if record.err then return record end
--#include "executor/scripts/shared/definitions.lua"
--#include "executor/scripts/shared/many_rows.lua"
--#include "executor/scripts/shared/write_program.lua"
local words, _, locks, _, definitions, reading, _, expiries = unpack(record, 1, 8)  -- bounded: eight words
local now = milliseconds()
-- Redis's time stands still in a script, and a row that is due lives until the script ends.
for _, expiry in ipairs(expiries) do
  redis.call('PEXPIREAT', expiry[1], string.format('%.0f', math.max(tonumber(expiry[2]), now + 1000)))
end
if definitions then
  define(definitions[2])
  end_definitions(name, definitions)
end
local answer = apply(cmsgpack.unpack(words), 1)
if answer[1] ~= 'applied' then return redis.error_reply(answer[3]) end
unlock(name, locks)
unlock_tables(name, reading)
remove_record(name)
redis.call('ZADD', kAppliedKey, redis.call('HINCRBY', kCommitNumbersKey, 'number', 1), name)
redis.call('ZADD', kAppliedTimesKey, string.format('%.0f', now), name)
return 'applied'
