-- Prepares a commit in one bucket: verifies its unit, takes the locks, stores what is to be done. The commit is decided when all its
-- buckets have prepared it and their replicas have that.
-- KEYS: a key of the bucket; then those of write_rows, in modes "apply" and "commit".
-- ARGV: name of the commit; if definitions change in the bucket: "definitions", how many words, the words (shared/definitions.lua); if what
--   was read must stay as it is: "reading", how many tables, their oids; if rows change or reads are verified: arguments of write_rows.
-- Replies: {"prepared"}; {"aborted"}: a tombstone is there; {"stale", ""}: definitions are not as expected; what write_rows answers where
--   it refuses.
-- Changes: locks, the record, marks of tables, expiries of rows that the unit changes (they stay until the commit is applied or aborted).
-- Holds Redis: as long as write_rows, twice; with other prepared commits, one look at each lock of the tables that were read.
--#include "executor/scripts/shared/bucket.lua"
local name = ARGV[1]
--#include "executor/scripts/shared/commit_record.lua"
--#include "executor/scripts/shared/redo.lua"
--#include "executor/scripts/shared/definitions.lua"
if redis.call('ZSCORE', kTombstonesKey, name) then
  touch()
  return {'aborted'}
end
if redis.call('HEXISTS', kPreparedKey, name) == 1 or redis.call('ZSCORE', kAppliedKey, name) then
  touch()
  return {'prepared'}
end
local function rows(KEYS, ARGV)
--#include "executor/scripts/write_rows.lua"
end
local keys, words, first, part = {}, {}, 2, nil
if ARGV[2] == 'definitions' then
  first = 4 + tonumber(ARGV[3])
  local definitions = {}
  for i = 4, first - 1 do definitions[i - 3] = ARGV[i] end
  part = definitions_part(definitions)
  if not may_define(part) then return {'stale', ''} end
end
local reading = {}
if ARGV[first] == 'reading' then
  for i = 1, tonumber(ARGV[first + 1]) do reading[i] = kLocksPrefix .. ARGV[first + 1 + i] end
  first = first + 2 + #reading
end
for i = 2, #KEYS do keys[i - 1] = KEYS[i] end
for i = first, #ARGV do words[i - first + 1] = ARGV[i] end
if #words == 0 then
  redis.call('HSET', kPreparedKey, name, cmsgpack.pack({{}, {}, {}, {}, begin_definitions(name, part), {}}))
  return {'prepared'}
end
local left, redo, locks, old_rows = redo_of(name, keys, words)
-- The owner's place is behind tables and relied tables.
local owner_at = 6 + 2 * tonumber(words[5])
owner_at = owner_at + 1 + 2 * tonumber(words[owner_at])
local session = words[owner_at]
local lease = kProcessPrefix .. string.sub(name, 1, 16)
-- What was read stays as it is until the commit is applied: writes of these tables wait (those of transactions, when they commit), and no
-- other prepared commit writes them.
local prepared = #reading > 0 and redis.call('HLEN', kPreparedKey) or 0
for t = 1, prepared > 0 and #reading or 0 do
  local held = redis.call('HGETALL', reading[t])
  for i = 1, #held, 2 do
    for mode, token in string.gmatch(held[i] ~= 't' and held[i + 1] or '', kLockPattern) do
      if tonumber(mode) >= 3 and redis.call('HEXISTS', kPreparedKey, token) == 1 then return {'locked', token, reading[t], held[i]} end
    end
  end
end
if words[1] == 'commit' then
  words[1] = 'precede'
  local answer = rows(keys, words)
  if answer[1] ~= 'verified' then return answer end
  redis.call('SET', lease, 'prepared')
  for _, lock in ipairs(locks) do
    local key, strengths, fields = unpack(lock)
    local of_session = {}
    for i = 1, #fields do
      local strongest, others = nil, {}
      for mode, token in string.gmatch(redis.call('HGET', key, fields[i]) or '', kLockPattern) do
        if token ~= session then others[#others + 1] = mode .. token
        elseif not strongest or mode > strongest then strongest = mode end
      end
      others[#others + 1] = (strongest or strengths[i]) .. name
      of_session[i] = strongest or ''
      redis.call('HSET', key, fields[i], table.concat(others, ' '))
    end
    lock[4] = of_session
  end
else
  words[1], words[owner_at] = 'lock', name
  redis.call('SET', lease, 'prepared')
  local answer = rows(keys, words)
  if answer[1] ~= 'verified' then
    unlock(name, locks)
    redis.call('UNLINK', lease)
    return answer
  end
end
for _, key in ipairs(reading) do
  local held = redis.call('HGET', key, 't')
  redis.call('HSET', key, 't', (held and held .. ' ' or '') .. '5' .. name)
end
local expiries = {}
for _, row in ipairs(old_rows) do
  local due = redis.call('PEXPIRETIME', row)
  if due >= 0 then
    expiries[#expiries + 1] = {row, string.format('%.0f', due)}
    redis.call('PERSIST', row)
  end
end
local definitions = part and begin_definitions(name, part) or false
redis.call('HSET', kPreparedKey, name, cmsgpack.pack({left, redo, locks, expiries, definitions, reading, session}))
return {'prepared'}
