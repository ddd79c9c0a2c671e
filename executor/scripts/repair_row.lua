-- Mends counters, or the index entries of a row if its fields are as they were read. A unique value of another row stays and is reported.
-- A structure's key of another type is deleted first.
-- KEYS: the row; then the keys of the entries.
-- ARGV: number of fields (-1: the row's key must be of another type than a row); fields; their values ('\0': absent); for each key: what
--   to do (zrem, srem, hdel, zadd, sadd, list, hset, string), two words.
-- Replies: 1; 0 if the row has changed.
-- Changes: the entries.
-- Holds Redis: two commands for each entry.
local call, p = redis.call, 2
local fields = tonumber(ARGV[1])
local types = {zrem = 'zset', zadd = 'zset', srem = 'set', sadd = 'set', hdel = 'hash', list = 'hash', hset = 'hash', string = 'string'}
local function type_of(key) return call('TYPE', key).ok end
if fields < 0 then
  if type_of(KEYS[1]) == 'hash' then return 0 end
  fields = 0
end
if fields > 0 then
  local values = call('HMGET', KEYS[1], unpack(ARGV, p, p + fields - 1))
  for f = 1, fields do
    local expected = ARGV[p + fields + f - 1]
    if values[f] ~= expected and (values[f] or expected ~= '\0') then return 0 end
  end
end
p = p + 2 * fields
for k = 2, #KEYS do
  local what, first, second = ARGV[p], ARGV[p + 1], ARGV[p + 2]
  p = p + 3
  local found = type_of(KEYS[k])
  if found ~= 'none' and found ~= types[what] then call('UNLINK', KEYS[k]) end
  if what == 'zrem' then call('ZREM', KEYS[k], first)
  elseif what == 'srem' then call('SREM', KEYS[k], first)
  elseif what == 'hdel' then if call('HGET', KEYS[k], first) == second then call('HDEL', KEYS[k], first) end
  elseif what == 'zadd' then call('ZADD', KEYS[k], second, first)
  elseif what == 'sadd' then call('SADD', KEYS[k], first)
  elseif what == 'list' then call('HSET', KEYS[k], first, second)
  elseif what == 'hset' then call('HSETNX', KEYS[k], first, second)
  elseif what == 'string' then if first ~= '' then call('SET', KEYS[k], first, 'NX') end end
end
return 1
