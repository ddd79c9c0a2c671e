-- Gives rows with their scores and ranks in a zset.
-- KEYS: the zset; the set of the rows without a score, if they come first; the unique values, if there are some in ARGV.
-- ARGV: 1 if the highest score is first; for each rank r (rows with better scores) or n (elements before the row's); 1 if rows without a
--   score come first; 1 if unique values follow instead of members; then prefix, escape, fields (shared/row_keys.lua); members or values.
-- Replies: flat (member, score or nil, how many rows are before it for each rank, field…) of the rows that are there; without fields
--   those with a score are; nil if a key is not known to Lua.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: some commands a row; the caller asks for one batch.
--#include "executor/scripts/shared/row_keys.lua"
local descending, ranks, nulls_first, unique = ARGV[1] == '1', ARGV[2], ARGV[3] == '1', ARGV[4] == '1'
local prefix, escape, field_count = ARGV[5], ARGV[6], tonumber(ARGV[7])
local zset, out, n, fields = KEYS[1], {}, 0, {}
for i = 1, field_count do fields[i] = ARGV[7 + i] end
local nulls = nulls_first and redis.call('SCARD', KEYS[2]) or 0
local function before(rank, member, score)
  if not score then return nulls_first and 0 or redis.call('ZCARD', zset) end
  if rank == 'n' then return nulls + redis.call(descending and 'ZREVRANK' or 'ZRANK', zset, member) end
  if descending then return nulls + redis.call('ZCOUNT', zset, '(' .. score, '+inf') end
  return nulls + redis.call('ZCOUNT', zset, '-inf', '(' .. score)
end
for p = 8 + field_count, #ARGV do
  local member = ARGV[p]
  if unique then member = redis.call('HGET', KEYS[#KEYS], member) end
  local values = nil
  if member and field_count > 0 then
    local key = row_key(prefix, escape, member)
    if not key then return false end
    values = redis.call('HMGET', key, unpack(fields))  -- bounded: the columns of a table
  end
  local score = member and redis.call('ZSCORE', zset, member)
  if score or values then
    out[n + 1], out[n + 2] = member, score
    n = n + 2
    for i = 1, #ranks do out[n + i] = before(ranks:sub(i, i), member, score) end
    n = n + #ranks
    for i = 1, field_count do out[n + i] = values[i] end
    n = n + field_count
  end
end
return out
