-- Updates one row by its key without having read it. The first half only reads; commands of the second cannot fail.
-- KEYS: redquel:versions, the counter of changes, the locks, the row; for each structure its key, and of sets by value the new value's
--   set.
-- ARGV: oid; version; field of the lock; member; then lists, each with its length in front: fields that are read, the one of presence
--   first; fields to set with their values; fields to remove; fields to add to (field, its number among those that are read, what is
--   added, how far from 0 the sum may be); then for each structure: s, z or n (sets by value, zset, set of NULLs), the number of its
--   field, its new value ('\0': NULL, '\1': the sum of a field that is added to), and the beginning of the name of a value's set, or the
--   score.
-- Replies: {"applied"}; {"absent"}; {"stale"}; {"unknown"}: read the row first; {"locked", holder, key, field}.
-- Changes: the row, its entries, the counter.
-- Holds Redis: some commands for each index.
local call, unpack, keys, argv = redis.call, unpack, KEYS, ARGV
if (call('HGET', keys[1], argv[1]) or '') ~= argv[2] then return {'stale'} end
local count = call('GET', keys[2])
if count and not (#count < 18 and string.find(count, '^%d+$')) then
  return redis.error_reply('WRONGTYPE ' .. keys[2] .. ' is not a counter')
end
local member, p = argv[4], 5
local function list()
  local first = p + 1
  p = first + tonumber(argv[p])
  return {unpack(argv, first, p - 1)}  -- bounded: the columns of a table
end
local values = call('HMGET', keys[4], unpack(list()))  -- bounded: the columns of a table
if not values[1] then return {'absent'} end
if call('EXISTS', keys[3]) == 1 then
  --#include "executor/scripts/shared/locks.lua"
  local held = call('HMGET', keys[3], 't', argv[3])
  for i, field in ipairs({'t', argv[3]}) do
    for strength, token in string.gmatch(held[i] or '', kLockPattern) do
      if (i == 1 and stops_writes(strength) or i == 2 and rows_conflict(strength, 3)) and is_alive(token) then
        return {'locked', token, keys[3], field}
      end
    end
  end
end
local set, removed, added = list(), list(), list()
local sums = {}  -- by the number of the field
for i = 1, #added, 4 do
  local value, bound = values[tonumber(added[i + 1])], tonumber(added[i + 3])
  local is_number = value and #value < 17 and (value == '0' or string.find(value, '^%-?[1-9]%d*$'))
  local sum = is_number and tonumber(value) + tonumber(added[i + 2])
  if not sum or sum > bound or sum < -bound then return {'unknown'} end
  sums[added[i + 1]] = string.format('%.0f', sum)
end
local changes, sets, k = {}, {}, 5
while p <= #argv do
  local kind, old, new, detail = argv[p], values[tonumber(argv[p + 1])], argv[p + 2], argv[p + 3]
  local is_sum = new == '\1'
  if is_sum then new = sums[argv[p + 1]] end
  if new == '\0' then new = false end
  local key = keys[k]
  if kind == 's' and old ~= new then
    if old and old ~= '0' and not (#old < 21 and string.find(old, '^%-?[1-9]%d*$')) then return {'unknown'} end
    local from, to = old and detail .. old, is_sum and detail .. new or new and keys[k + 1]
    sets[#sets + 1] = key
    if from then sets[#sets + 1] = from end
    if to then sets[#sets + 1] = to end
    changes[#changes + 1] = {kind, key, old, new, from, to}
  elseif kind == 'n' and (not old) ~= (not new) then
    sets[#sets + 1] = key
    changes[#changes + 1] = {kind, key, old, new}
  elseif kind == 'z' and old ~= new then
    call('ZCARD', key)
    changes[#changes + 1] = {kind, key, old, new, is_sum and new or detail}
  end
  p = p + 4
  k = k + (kind == 's' and 2 or 1)
end
-- An intersection with a key that never exists is empty at once, after all types were looked at.
if #sets > 0 then call('SINTERCARD', #sets + 1, kNoKey, unpack(sets)) end  -- bounded: the indexes of a table

if #set > 0 then call('HSET', keys[4], unpack(set)) end  -- bounded: the columns of a table
if #removed > 0 then call('HDEL', keys[4], unpack(removed)) end  -- bounded: the columns of a table
for i = 1, #added, 4 do call('HINCRBY', keys[4], added[i], added[i + 2]) end
for i = 1, #changes do
  local kind, key, old, new, from, to = unpack(changes[i], 1, 6)
  if kind == 's' then
    if from then call('SREM', from, member) end
    if to then
      call('SADD', to, member)
      call('SADD', key, new)
    end
    if from and call('EXISTS', from) == 0 then call('SREM', key, old) end
  elseif kind == 'z' then
    if new then call('ZADD', key, from, member) else call('ZREM', key, member) end
  else
    call(new and 'SREM' or 'SADD', key, member)
  end
end
call('INCR', keys[2])
return {'applied'}
