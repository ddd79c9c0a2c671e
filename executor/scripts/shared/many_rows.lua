-- Functions of the steps of many rows. Lua's stack holds about 8,000 values: no call takes more than 4,000 arguments. Defines:
--   send(command, key, words, from, to)     a command with these words, in pieces
--   each_piece(from, to, run)               run(from, to) for each piece
--   fail(p, index, detail)                  notes what the step at p has found. `found`: {"found", p, index, detail, p, …} or nil
--   read_locks(key, words, from, to)        the fields "t" and these words, and their values
--   look_at_locks(argv, p, purpose)         of a step with key, owner, modes and fields: takes them, passes by, or gives them back. Returns
--                                           an answer that stops the program, or nil
--   write_locks()                           writes the locks that these have changed (`changed_locks`; are_taken: before all effects)
--   note_sets(sets, argv, from, to, values) the sets of a step sets+ or sets-
--   times, is_same, relocated               between steps
--#include "executor/scripts/shared/listed_entries.lua"
--#include "executor/scripts/shared/locks.lua"
local found, is_same
local times, relocated, changed_locks = {}, {}, {}
local function send(command, key, words, from, to)
  for first = from, to, 4000 do redis.call(command, key, unpack(words, first, math.min(first + 3999, to))) end  -- bounded: a piece
end
local function each_piece(from, to, run)
  for first = from, to, 4000 do run(first, math.min(first + 3999, to)) end
end
local function note_sets(sets, argv, from, to, values)
  sets[#sets + 1] = values
  while from < to do
    sets[#sets + 1] = values .. ':' .. argv[from]
    from = from + 2 + argv[from + 1]
  end
end
local function fail(p, index, detail)
  found = found or {'found'}
  local n = #found
  found[n + 1], found[n + 2], found[n + 3] = p, index, detail
end
local function read_locks(key, words, from, to)
  local fields, values = {'t'}, {}
  for i = from, to do fields[i - from + 2] = words[i] end
  for first = 1, #fields, 4000 do
    local held = redis.call('HMGET', key, unpack(fields, first, math.min(first + 3999, #fields)))  -- bounded: a piece
    for i = 1, #held do values[first + i - 1] = held[i] end
  end
  return fields, values
end
local function look_at_locks(argv, p, purpose)
  local key, owner, modes, gives = argv[p + 2], argv[p + 3], argv[p + 4], purpose == 'give'
  local fields, values = read_locks(key, argv, p + 5, p + 1 + argv[p + 1])
  changed_locks.are_taken = purpose == 'take'
  -- LOCK TABLE in SHARE mode and the stronger ones; a commit has waited for them when it took its locks. In a cluster a prepared commit of
  -- a stricter transaction has locked the tables that it has read.
  for strength, token in string.gmatch(values[1] or '', kLockPattern) do
    local stops = stops_writes(strength) and token ~= owner
    if stops and gives then stops = string.byte(kPreparedKey) == 123 and redis.call('HEXISTS', kPreparedKey, token) == 1 end
    if stops and (gives or is_alive(token)) then return {'stop', p, token, 't'} end
  end
  for i = 2, #fields do
    local value, wanted, is_own, left = values[i], gives and '4' or string.sub(modes, i - 1, i - 1), false, {}
    for strength, token in string.gmatch(value or '', kLockPattern) do
      if token == owner then
        is_own = true
        if strength > wanted then wanted = strength end
      elseif is_alive(token) then
        if not gives and rows_conflict(strength, wanted) then return {'stop', p, token, fields[i]} end
        left[#left + 1] = strength .. token
      end
    end
    if gives and not is_own then return {'stop', p} end
    if purpose == 'take' then left[#left + 1] = wanted .. owner end
    if value or left[1] then
      left = table.concat(left, ' ')
      if left ~= value then changed_locks[#changed_locks + 1] = {key, fields[i], left} end
    end
  end
end
local function write_locks()
  if not changed_locks[1] then return end
  --#include "executor/scripts/shared/first_write.lua"
  for i = 1, #changed_locks do
    local key, field, left = unpack(changed_locks[i])  -- bounded: three words
    if left == '' then redis.call('HDEL', key, field) else redis.call('HSET', key, field, left) end
  end
  changed_locks = {}
end
