-- Gives the values of an index with the cardinalities of their sets.
-- KEYS: the values; the set of rows with NULL ("": none); sets that the rows must be in.
-- ARGV: most values; 1 if cardinalities are wanted, else each value counts 1; most members that intersections look at.
-- Replies: flat (value, cardinality)…, first (nil, rows with NULL); nil if there are too many, or a key is not known to Lua.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: a command for each value; intersections look at so many members as the caller allows.
--#include "executor/scripts/shared/row_keys.lua"
local values = redis.call('SCARD', KEYS[1])
if values > tonumber(ARGV[1]) then return false end
local among, smallest = {}, nil
for i = 3, #KEYS do
  among[#among + 1] = KEYS[i]
  local size = redis.call('SCARD', KEYS[i])
  if not smallest or size < smallest then smallest = size end
end
if #among > 4000 or smallest and smallest * values > tonumber(ARGV[3]) then return false end
local function count(key)
  if #among == 0 then return redis.call('SCARD', key) end
  return redis.call('SINTERCARD', #among + 1, key, unpack(among))  -- bounded: a piece
end
local out = {false, KEYS[2] == '' and 0 or count(KEYS[2])}
local n = 2
for _, value in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local name = segment(value)
  if not name then return false end
  out[n + 1] = value
  out[n + 2] = ARGV[2] == '1' and count(KEYS[1] .. ':' .. name) or 1
  n = n + 2
end
return out
