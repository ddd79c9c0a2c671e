-- Gives the rows that own unique values.
-- KEYS: the unique values.
-- ARGV: prefix, escape, fields (shared/row_keys.lua); the values.
-- Replies: flat (member, field…) of the values that are there; nil if a key is not known to Lua.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: two commands a value; the caller asks for one batch.
--#include "executor/scripts/shared/row_keys.lua"
local prefix, escape, field_count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[3 + i] end
local out, n = {}, 0
for p = 4 + field_count, #ARGV do
  local member = redis.call('HGET', KEYS[1], ARGV[p])
  if member then
    local key = row_key(prefix, escape, member)
    if not key then return false end
    out[n + 1] = member
    local values = redis.call('HMGET', key, unpack(fields))  -- bounded: the columns of a table
    for j = 1, field_count do out[n + 1 + j] = values[j] end
    n = n + 1 + field_count
  end
end
return out
