-- Mends index entries, if the rows that they depend on are as they were read. A key of another type is deleted first.
-- KEYS: rows; then a key for each step.
-- ARGV: number of rows; for each: number of fields (-1: its key must not hold a hash), fields, their values ('\0': absent); then for
--   each step what to do and three words:
--     zrem, srem: an element that goes; zadd: an element, its score; sadd: an element; list: a field, its value;
--     type: the type of the key;
--     hdel: a field, the owner that it must have;
--     own: a field, its owner, the owner whose place it takes ('\0': none), so that the value is guarded at every moment;
--     unlist: a value, the key of its set ("": none), without which it leaves the list of values;
--     count: the least number that the counter must hold ("": any, or none).
-- Replies: 1; 0 if a row has changed. An error, before anything changes, if the arguments are not these.
-- Changes: the entries.
-- Holds Redis: three commands for each step.
local call, p = redis.call, 2
local rows = tonumber(ARGV[1])
local types = {
  zrem = 'zset', zadd = 'zset', srem = 'set', sadd = 'set', unlist = 'set',
  hdel = 'hash', list = 'hash', own = 'hash', count = 'string',
}
for k = 1, rows do
  local fields = tonumber(ARGV[p])
  p = p + 1
  if fields < 0 then
    if call('TYPE', KEYS[k]).ok == 'hash' then return 0 end
    fields = 0
  end
  if fields > 0 then
    local values = redis.pcall('HMGET', KEYS[k], unpack(ARGV, p, p + fields - 1))  -- bounded: the columns of a table
    if values.err then return 0 end
    for f = 1, fields do
      local expected = ARGV[p + fields + f - 1]
      if values[f] ~= expected and (values[f] or expected ~= '\0') then return 0 end
    end
  end
  p = p + 2 * fields
end
if #ARGV ~= p - 1 + 4 * (#KEYS - rows) then return redis.error_reply('ERR repair_row.lua: four words for each step') end
for i = p, #ARGV, 4 do
  if not types[ARGV[i]] and ARGV[i] ~= 'type' then return redis.error_reply('ERR repair_row.lua: no step is called so') end
end
local function mend_count(key, least)
  local value = call('GET', key)
  local is_count = value == '0' or value and #value < 18 and string.find(value, '^[1-9]%d*$')
  local is_behind = not is_count or #value < #least or (#value == #least and value < least)
  if least == '' then
    if value and not is_count then call('UNLINK', key) end
  elseif is_behind then
    call('SET', key, least)
  end
end
for k = rows + 1, #KEYS do
  local key, what, first, second, third = KEYS[k], ARGV[p], ARGV[p + 1], ARGV[p + 2], ARGV[p + 3]
  p = p + 4
  local found = call('TYPE', key).ok
  if found ~= 'none' and found ~= (types[what] or first) then call('UNLINK', key) end
  if what == 'zrem' then call('ZREM', key, first)
  elseif what == 'srem' then call('SREM', key, first)
  elseif what == 'zadd' then call('ZADD', key, second, first)
  elseif what == 'sadd' then call('SADD', key, first)
  elseif what == 'list' then call('HSET', key, first, second)
  elseif what == 'hdel' then if call('HGET', key, first) == second then call('HDEL', key, first) end
  elseif what == 'own' then
    local owner = call('HGET', key, first)
    if not owner or owner == third then call('HSET', key, first, second) end
  elseif what == 'unlist' then if second == '' or call('EXISTS', second) == 0 then call('SREM', key, first) end
  elseif what == 'count' then mend_count(key, first) end
end
return 1
