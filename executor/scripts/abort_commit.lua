-- Aborts a commit in one bucket.
-- KEYS: a key of the bucket.
-- ARGV: name of the commit; "goes on" if the transaction does: the commit has taken its locks, and gives them back.
-- Replies: "aborted"; "applied": the commit took place, and the bucket that knew nothing of it has forgotten it.
-- Changes: the record, its locks and marks, tombstones, expiries of rows.
-- Holds Redis: some commands for each lock.
-- Flags: allow-oom
--#include "executor/scripts/shared/bucket.lua"
--#include "executor/scripts/shared/commit_record.lua"
--#include "executor/scripts/shared/definitions.lua"
local name = ARGV[1]
local record = read_record(name)
if record and record.err then return record end
touch()
if redis.call('ZSCORE', kAppliedKey, name) then return 'applied' end
if record then
  for _, expiry in ipairs(record[8]) do redis.call('PEXPIREAT', expiry[1], expiry[2]) end
  if record[5] then undo_definitions(name, record[5]) end
  unlock(name, record[3], ARGV[2] == 'goes on' and record[7] or nil)
  unlock_tables(name, record[6])
  remove_record(name)
end
bury(name)
return 'aborted'
