-- Begins, keeps, takes over and ends the exclusive tables of a journaled unit.
-- KEYS: redquel:version, redquel:versions, redquel:exclusive, the unit's lease, its journal. In a cluster each bucket of a unit has
-- these; a commit over the buckets ends the unit (storage/exclusive_tables.cc).
-- ARGV: step; unit; owner; milliseconds of the lease; a fresh name; then for "begin" oid and version of each table, for all others oids.
-- Replies: "done"; begin: "busy" if a table is exclusive, "stale" if it has another version; take: "alive" if the lease has not ended, or
--   a commit over several buckets ends the unit; "lost" if the owner is another one by now.
-- Changes: the keys above.
-- Holds Redis: some commands for each table.
local call = redis.call
local version, versions, exclusive, lease, journal = unpack(KEYS)
local step, unit, owner, milliseconds, fresh = unpack(ARGV)
local first = 6
--#include "executor/scripts/shared/definition_log.lua"
-- Deletes of many rows must begin, and every unit must end.
--#include "executor/scripts/shared/first_write.lua"
-- The words of a value of redquel:exclusive; the last one may be empty.
local function words_of(value)
  local words = {}
  for word in string.gmatch((value or '') .. ' ', '(%S*) ') do words[#words + 1] = word end
  return words
end

if step == 'begin' then
  for i = first, #ARGV, 2 do
    if call('HEXISTS', exclusive, ARGV[i]) == 1 then return 'busy' end
    if call('HGET', versions, ARGV[i]) ~= ARGV[i + 1] then return 'stale' end
  end
  call('LLEN', journal)
  local before = call('GET', version) or ''
  for i = first, #ARGV, 2 do
    call('HSET', exclusive, ARGV[i], unit .. ' ' .. owner .. ' ' .. ARGV[i + 1] .. ' ' .. before)
    call('HSET', versions, ARGV[i], owner)
  end
  call('SET', lease, owner, 'PX', milliseconds)
  call('SET', version, unit)
  note_definitions(before, unit, {}, {})
  return 'done'
end

if step == 'take' then
  if call('EXISTS', lease) == 1 then return 'alive' end
  for _, name in ipairs(call('HKEYS', kPreparedKey)) do
    for oid in string.gmatch(string.match(name, '[^.]*$'), '%d+') do
      if oid == ARGV[first] then return 'alive' end
    end
  end
  local states = {}
  for i = first, #ARGV do
    local words = words_of(call('HGET', exclusive, ARGV[i]))
    if words[1] ~= unit or words[2] ~= owner then return 'lost' end
    words[2] = fresh
    states[i] = table.concat(words, ' ')
  end
  for i = first, #ARGV do
    call('HSET', exclusive, ARGV[i], states[i])
    call('HSET', versions, ARGV[i], fresh)
  end
  call('SET', lease, fresh, 'PX', milliseconds)
  return 'done'
end

for i = first, #ARGV do
  if call('HGET', versions, ARGV[i]) ~= owner then return 'lost' end
end
if step == 'extend' then
  call('SET', lease, owner, 'PX', milliseconds)
elseif step == 'pop' then
  call('RPOP', journal)
elseif step == 'end' then
  local before = ''
  for i = first, #ARGV do
    local words = words_of(call('HGET', exclusive, ARGV[i]))
    call('HSET', versions, ARGV[i], words[3])
    call('HDEL', exclusive, ARGV[i])
    before = words[4]
  end
  call('UNLINK', journal, lease)
  local now = call('GET', version) or ''
  local after = now == unit and before ~= '' and before or fresh
  call('SET', version, after)
  note_definitions(now, after, {}, {})
end
return 'done'
