-- Gives a piece of a zset in order, and its rows.
-- KEYS: the zset.
-- ARGV: low; high; BYSCORE or BYLEX; 1 if descending; offset; count; 1 if members hold a value; how many elements are few (-1: any
--   number); then prefix, escape, fields (shared/row_keys.lua).
-- Replies: {flat (member, score or ""), flat fields}; nil instead of the fields if a key is not known to Lua; {rank of the first, how
--   many} if there are more than few.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: a command a row; the caller asks for one chunk.
--#include "executor/scripts/shared/row_keys.lua"
local low, high, by, descending, offset, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local holds_value, few, prefix, escape, field_count = ARGV[7], tonumber(ARGV[8]), ARGV[9], ARGV[10], tonumber(ARGV[11])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[11 + i] end
if few >= 0 then
  local size = redis.call('ZCOUNT', KEYS[1], low, high)
  if size > few then
    local function beyond(bound) return bound:sub(1, 1) == '(' and bound:sub(2) or '(' .. bound end
    if descending == '1' then return {redis.call('ZCOUNT', KEYS[1], beyond(high), '+inf'), size} end
    return {redis.call('ZCOUNT', KEYS[1], '-inf', beyond(low)), size}
  end
end
local words = {'ZRANGE', KEYS[1], low, high, by}
if descending == '1' then
  words[3], words[4] = high, low
  words[6] = 'REV'
end
words[#words + 1] = 'LIMIT'
words[#words + 1] = offset
words[#words + 1] = count
local scored = by == 'BYSCORE'
if scored then words[#words + 1] = 'WITHSCORES' end
local found = redis.call(unpack(words))  -- bounded: one command
local step, out, keys = scored and 2 or 1, {}, {}
for i = 1, #found, step do
  local member = found[i]
  if holds_value == '1' then member = member:match('[^%z]*$') end
  local key = row_key(prefix, escape, member)
  if not key then keys = nil break end
  keys[#keys + 1] = key
end
if not scored then
  local flat = {}
  for i = 1, #found do flat[2 * i - 1], flat[2 * i] = found[i], '' end
  found = flat
end
if not keys then return {found, false} end
if scored and escape == '0' and holds_value ~= '1' and #keys > 3 and field_count > 0 then
  local first = redis.call(descending == '1' and 'ZREVRANK' or 'ZRANK', KEYS[1], found[1])
  local sort = {'SORT_RO', KEYS[1], 'BY', 'nosort', 'LIMIT', first, #keys}
  if descending == '1' then sort[#sort + 1] = 'DESC' end
  for i = 1, field_count do
    sort[#sort + 1] = 'GET'
    sort[#sort + 1] = prefix .. '*->' .. fields[i]
  end
  local rows = redis.pcall(unpack(sort))  -- bounded: the columns of a table
  if not rows.err then return {found, rows} end  -- a user without the right to SORT reads row by row
end
for i = 1, #keys do
  local values = redis.call('HMGET', keys[i], unpack(fields))  -- bounded: the columns of a table
  local n = (i - 1) * field_count
  for j = 1, field_count do out[n + j] = values[j] end
end
return {found, out}
