-- Changes of foreign tables, as MappedWriteCall (storage/mapped_script.h) encodes them. Defines mapped.check(argv), which only reads, and
-- mapped.write(argv), which cannot fail. mapped.check is mapped.guard, which reads redquel's keys, then mapped.compare, which reads those
-- of the tables.
-- ARGV: version of the catalog; number of checks; token of the transaction ("": none); number of tables with locks; then
--   for each table: key of its locks, number of rows, for each row a digit (the strength that is needed) and the field;
--   for each check: a command (its number of words, the words), a letter (v value, n nil, t type, m values of a hash, s a stream that ends
--   before an id) and what is expected;
--   commands, each with its number of words. SELECT moves to another logical database until the script ends; what is written there is
--   replicated and logged there.
-- Answers of check: nil if all is as expected; {"stale"}; {"conflict"}; {"type", key}; {"behind", stream, id}; {"locked", holder, key,
--   field}; {"lost"}: the own lease has ended.
--#include "executor/scripts/shared/locks.lua"
local mapped = {}
function mapped.locks(argv)
  local token, position = argv[3], 5
  if token ~= '' and not is_alive(token) then return {'lost'} end
  for _ = 1, tonumber(argv[4]) do
    local key, count = argv[position], tonumber(argv[position + 1])
    if redis.call('EXISTS', key) == 1 then
      for i = 0, count do
        local wanted, field = 0, 't'
        if i > 0 then
          local row = argv[position + 1 + i]
          wanted, field = tonumber(string.sub(row, 1, 1)), string.sub(row, 2)
        end
        for strength, holder in string.gmatch(redis.call('HGET', key, field) or '', kLockPattern) do
          local conflicts = field == 't' and stops_writes(strength) or field ~= 't' and rows_conflict(strength, wanted)
          if conflicts and holder ~= token and is_alive(holder) then return {'locked', holder, key, field} end
        end
      end
    end
    position = position + 2 + count
  end
  mapped.position = position
end
function mapped.take(argv, position)
  local count = tonumber(argv[position])
  local words = {}
  for i = 1, count do words[i] = argv[position + i] end
  return words, position + count + 1
end
function mapped.is_behind(id, stream)
  local last = '0-0'
  for i = 1, #stream, 2 do
    if stream[i] == 'last-generated-id' then last = stream[i + 1] end
  end
  local time, number = string.match(id, '^(%d+)-(.+)$')
  local last_time, last_number = string.match(last, '^(%d+)-(%d+)$')
  if tonumber(time) ~= tonumber(last_time) then return tonumber(time) > tonumber(last_time) end
  return number == '*' or tonumber(number) > tonumber(last_number)
end
function mapped.guard(argv)
  if (redis.call('GET', kVersionKey) or '') ~= argv[1] then return {'stale'} end
  return mapped.locks(argv)
end
function mapped.compare(argv)
  local position = mapped.position
  for _ = 1, tonumber(argv[2]) do
    local words
    words, position = mapped.take(argv, position)
    local letter, expected = argv[position], argv[position + 1]
    position = position + 2
    local found = redis.pcall(unpack(words))  -- bounded: a row
    if letter == 's' then
      if not found.err and not mapped.is_behind(expected, found) then return {'behind', words[3], expected} end
      found = expected
      letter = 'v'
    end
    if letter == 'm' and not found.err then
      for i = 1, #found do found[i] = found[i] and '+' .. #found[i] .. ':' .. found[i] or '-' end
      found = table.concat(found)
    end
    if type(found) == 'table' then
      if found.err and string.find(found.err, 'NOPERM', 1, true) then error(found) end
      if found.err then return {'type', words[2]} end
      found = found.ok
    end
    if letter == 't' then
      if found ~= 'none' and found ~= expected then return {'type', words[2]} end
    elseif letter == 'n' then
      if found then return {'conflict'} end
    elseif not found or tostring(found) ~= expected then
      return {'conflict'}
    end
  end
  mapped.position = position
end
function mapped.check(argv) return mapped.guard(argv) or mapped.compare(argv) end
function mapped.write(argv)
  local position = mapped.position
  while position <= #argv do
    local words
    words, position = mapped.take(argv, position)
    if words[1] == '@indices' then
      local keys = redis.pcall('SMEMBERS', words[2])
      for i = 1, #keys do redis.pcall('SREM', keys[i], words[3]) end
    elseif words[1] == '@uniques' then
      local entries = redis.pcall('HGETALL', words[2])
      for i = 1, #entries, 2 do redis.pcall('HDEL', entries[i], entries[i + 1]) end
    else
      redis.call(unpack(words))  -- bounded: a row
    end
  end
end
