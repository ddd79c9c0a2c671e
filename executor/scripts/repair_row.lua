-- Mends the index entries of one row, if its fields are as they were read. A unique value of another row stays and is reported.
-- KEYS: the row; then the keys of the entries.
-- ARGV: number of fields; fields; their values ('\0': absent); for each key: what to do (zrem, srem, hdel, zadd, sadd, list, hset), two
--   words.
-- Replies: 1; 0 if the row has changed.
-- Changes: the entries.
-- Holds Redis: a command for each entry.
local call, p = redis.call, 2
local fields = tonumber(ARGV[1])
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
  if what == 'zrem' then call('ZREM', KEYS[k], first)
  elseif what == 'srem' then call('SREM', KEYS[k], first)
  elseif what == 'hdel' then if call('HGET', KEYS[k], first) == second then call('HDEL', KEYS[k], first) end
  elseif what == 'zadd' then call('ZADD', KEYS[k], second, first)
  elseif what == 'sadd' then call('SADD', KEYS[k], first)
  elseif what == 'list' then call('HSET', KEYS[k], first, second)
  elseif what == 'hset' then call('HSETNX', KEYS[k], first, second) end
end
return 1
