-- Locks rows that a query has read, group by group: what one row of the query was made of is locked as a whole or not at all.
-- KEYS: the locks of each table; then the rows, group by group, in the order of the tables.
-- ARGV: token ("": only look); how many groups are wanted ("": all); number of tables.
--     tables: strength; what to do about locks of others (b: wait, s: skip, n: refuse, w: wait as a write does, also for LOCK TABLE in
--     SHARE mode); number of fields; the fields.
--     rows: field of the lock; 0, 1 if it is compared, 2 if it is read; if it is compared, what each field holds (= value, ? value or
--     absent, - absent, + present).
-- Replies: {"done", states, rows that were read}: by group l locked, s skipped, c locked but changed, g gone; {"locked", states, holder,
--   key, field} if the next group is locked by another; {"refused", states, number of the table}; {"lost"} if the own lease has ended.
-- Changes: fields of the locks.
-- Holds Redis: some commands for each row; the caller asks for one batch.
--#include "executor/scripts/shared/locks.lua"
local call, unpack, keys, argv = redis.call, unpack, KEYS, ARGV
local token, wanted = argv[1], tonumber(argv[2])
if token ~= '' and not is_alive(token) then return {'lost'} end
local tables, p = {}, 4
for t = 1, tonumber(argv[3]) do
  local count = tonumber(argv[p + 2])
  -- Bounded: the columns of a table.
  local one = {key = keys[t], strength = tonumber(argv[p]), wait = argv[p + 1], fields = {unpack(argv, p + 3, p + 2 + count)}}
  p = p + 3 + count
  local oid = string.match(one.key, '%d+$')
  if call('HEXISTS', kExclusiveKey, oid) == 1 then return {'locked', '', '', kExclusiveKey, oid} end
  for mode, holder in string.gmatch(call('HGET', one.key, 't') or '', kLockPattern) do
    if (one.wait == 'w' and stops_writes(mode) or tonumber(mode) >= 7) and holder ~= token and is_alive(holder) then
      if one.wait == 'n' then return {'refused', '', t - 1} end
      return {'locked', '', holder, one.key, 't'}
    end
  end
  tables[t] = one
end
local function matches(value, expected)
  local kind = string.sub(expected, 1, 1)
  if kind == '-' then return not value end
  if kind == '+' then return value and true end
  return value == string.sub(expected, 2) or (kind == '?' and not value)
end
local states, locked, rows, k = {}, 0, {}, #tables + 1
while k <= #keys and (not wanted or locked < wanted) do
  local state, taken = 'l', {}
  for t = 1, #tables do
    local one, field, look = tables[t], argv[p], argv[p + 1]
    p = p + 2
    local left, strongest = {}, one.strength
    for mode, holder in string.gmatch(call('HGET', one.key, field) or '', kLockPattern) do
      if holder == token then
        strongest = math.max(strongest, tonumber(mode))
      elseif is_alive(holder) then
        if rows_conflict(mode, one.strength) then
          if one.wait == 'n' then return {'refused', table.concat(states), t - 1} end
          if one.wait ~= 's' then return {'locked', table.concat(states), holder, one.key, field} end
          state = 's'
        end
        left[#left + 1] = mode .. holder
      end
    end
    if look == '2' then
      local values = call('HMGET', keys[k], unpack(one.fields))  -- bounded: the columns of a table
      if values[1] then rows[#rows + 1] = values else state = 'g' end
    elseif look == '1' then
      local values = call('HMGET', keys[k], unpack(one.fields))  -- bounded: the columns of a table
      for f = 1, #one.fields do
        if state == 'l' and not matches(values[f], argv[p]) then state = one.wait == 's' and 's' or values[1] and 'c' or 'g' end
        p = p + 1
      end
    end
    left[#left + 1] = strongest .. token
    taken[t] = {one.key, field, table.concat(left, ' ')}
    k = k + 1
  end
  if token ~= '' and (state == 'l' or state == 'c') then
    if locked == 0 then
      --#include "executor/scripts/shared/first_write.lua"
    end
    for t = 1, #taken do call('HSET', unpack(taken[t])) end  -- bounded: three words
  end
  if state == 'l' then locked = locked + 1 end
  states[#states + 1] = state
end
return {'done', table.concat(states), rows}
