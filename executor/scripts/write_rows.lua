-- Writes the rows of a unit with all their index entries: first verifies, only reading, then applies with commands that cannot fail.
-- Lua's stack holds about 8,000 values: no call takes more than 4,000 arguments. A check that finds something is noted and the others
-- still run, so that the encoder knows the first violation of the statement and all rows to skip. '\0' means an absent field (no text of
-- PostgreSQL holds a zero byte) or no owner of a unique value; '\0+' a field that is there.
-- KEYS: redquel:versions; then those of the sections, in their order.
-- ARGV: mode, then sections. Each begins with a line "-- Section" here; its writer in write_sections.cc has its name.
-- Replies: {"applied"}; {"verified"} if it was asked not to apply; {"stale", oid}; {"changed"}; {"lost"}; {"fenced"}; {"locked", holder,
--   key, field}; {"failed", kind, index, detail, kind, …}. WriteEncoding::decode makes values of them.
-- Changes: rows, index entries, locks, counters of changes, the commit's slot, the journal. The time to live of the own lease.
-- Holds Redis: about 20 µs a row: at most redquel.max_write_rows rows (100,000), 2,000 in a journaled unit; calls that only verify look
--   at 4,000 things.
--#include "executor/scripts/shared/listed_entries.lua"
--#include "executor/scripts/shared/locks.lua"
local call, unpack, keys, argv = redis.call, unpack, KEYS, ARGV
local p, k = 5

-- Section mode: 'lock' takes locks and verifies, 'verify' only verifies, 'commit' (in two parts: 'precede' and 'follow') must still have
-- its locks and applies, 'apply' does all in one.
local mode = argv[1]
-- Section token: key, slot and number of the commit ("": none).
local token_key, token_slot, token_number = argv[2], argv[3], argv[4]
if token_key ~= '' then
  local number, word = string.match(call('HGET', token_key, token_slot) or '', '(%d+) (%a+)')
  if number and (tonumber(number) > tonumber(token_number) or number == token_number and word == 'fenced') then return {'fenced'} end
end
local step = 4000
local function number()  -- (an addition is faster than tonumber)
  local n = argv[p] + 0
  p = p + 1
  return n
end
local failed = {'failed'}
local function fail(kind, index, detail)
  local n = #failed
  failed[n + 1], failed[n + 2], failed[n + 3] = kind, index, detail
end

-- VERIFY.
-- Section tables: those that change: how many, their oids, their versions. KEYS: their counters of changes.
local function stale_table(count)
  for first = 0, mode ~= 'follow' and count - 1 or -1, step do
    local last = math.min(first + step, count) - 1
    local versions = call('HMGET', keys[1], unpack(argv, p + first, p + last))  -- bounded: a piece
    for t = first, last do
      if (versions[t - first + 1] or '') ~= argv[p + count + t] then return {'stale', argv[p + t]} end
    end
  end
  p = p + 2 * count
end
local tables = number()
local stale = stale_table(tables)
if stale then return stale end
-- (Other modes find a key that is no counter before they change anything else.)
local function not_a_counter(t) return redis.error_reply('WRONGTYPE ' .. keys[1 + t] .. ' is not a counter') end
for t = 1, mode == 'precede' and tables or 0 do
  local count = call('GET', keys[1 + t])
  if count and count ~= '0' and not (#count < 18 and string.find(count, '^[1-9]%d*$')) then return not_a_counter(t) end
end
k = tables + 2
-- Section relied tables: those that do not change, but whose definitions the checks rely on: how many, their oids, their versions.
stale = stale_table(number())
if stale then return stale end

-- Section locks: the owner (""); by table how many, for each the digit of its mode and its field. KEYS: the locks of each table.
local owner, lock_tables = argv[p], tonumber(argv[p + 1])
p = p + 2
local is_commit = mode == 'commit' or mode == 'precede' or mode == 'follow'
-- One look at the own lease and at the tables in which this call does not have locks already: seldom are there any. (The lease counts for
-- more than all of them together.)
local looked, leases, is_quiet, is_free = {}, 0, {}, false
if lock_tables > step / 4 then
  if owner ~= '' and mode ~= 'verify' and not is_alive(owner) then return {'lost'} end
elseif mode ~= 'verify' then
  local first = p
  for t = 1, lock_tables do
    local count = tonumber(argv[first])
    is_quiet[t] = mode ~= 'lock'
    for i = first + 1, is_commit and first + count or first do
      if string.sub(argv[i], 1, 1) == '4' then
        is_quiet[t] = false
        break
      end
    end
    if is_quiet[t] then looked[#looked + 1] = keys[k + t - 1] end
    first = first + 1 + count
  end
  if owner ~= '' then
    leases = #looked + 1
    for _ = 1, leases do looked[#looked + 1] = kProcessPrefix .. string.sub(owner, 1, 16) end
  end
  local found = #looked > 0 and call('EXISTS', unpack(looked)) or 0  -- bounded: a piece
  if found < leases then return {'lost'} end
  if owner ~= '' then living[string.sub(owner, 1, 16)] = true end
  is_free = found == leases
end
-- No renewal arrives while the script runs, so a long one makes the own lease last longer first. The next renewal makes it shorter again.
if owner ~= '' and mode ~= 'verify' and #argv > step then
  local lease, longest = kProcessPrefix .. string.sub(owner, 1, 16), 60000
  local left = call('PTTL', lease)
  if left > 0 and left < longest then call('PEXPIRE', lease, longest) end
end
-- In a cluster a prepared commit of a stricter transaction has locked the tables that it has read.
local may_be_read = (mode == 'commit' or mode == 'precede') and string.byte(kPreparedKey) == 123 and call('EXISTS', kPreparedKey) == 1
local changed_locks = {}
for t = 1, lock_tables do
  local key, count = keys[k], number()
  k = k + 1
  if may_be_read then
    for strength, token in string.gmatch(call('HGET', key, 't') or '', kLockPattern) do
      if stops_writes(strength) and call('HEXISTS', kPreparedKey, token) == 1 then return {'locked', token, key, 't'} end
    end
  end
  if mode ~= 'verify' and not (is_free and is_quiet[t]) then
    -- LOCK TABLE in SHARE mode and the stronger ones. A commit that has increments (mode 3) has taken no lock before.
    local looks, fields, values = not is_commit, {'t'}, {}
    for i = 1, count do
      looks = looks or string.sub(argv[p + i - 1], 1, 1) == '3'
      fields[i + 1] = string.sub(argv[p + i - 1], 2)
    end
    for first = 1, count + 1, step do
      local last = math.min(first + step, count + 2) - 1
      local found = call('HMGET', key, unpack(fields, first, last))  -- bounded: a piece
      for i = 1, #found do values[first + i - 1] = found[i] end
    end
    if looks and values[1] then
      for strength, token in string.gmatch(values[1] or '', kLockPattern) do
        if stops_writes(strength) and token ~= owner and is_alive(token) then return {'locked', token, key, 't'} end
      end
    end
    for i = 1, count do
      local wanted, field = tonumber(string.sub(argv[p + i - 1], 1, 1)), fields[i + 1]
      -- A commit has its locks, except those of increments.
      local is_held = is_commit and wanted == 4
      local value, is_own, left = values[i + 1], false, {}
      for strength, token in string.gmatch(value or '', kLockPattern) do
        if token == owner then
          is_own = true
          if tonumber(strength) > wanted then wanted = tonumber(strength) end
        elseif is_alive(token) then
          if not is_held and rows_conflict(strength, wanted) then return {'locked', token, key, field} end
          left[#left + 1] = strength .. token
        end
      end
      if is_held and not is_own then return {'lost'} end
      if mode == 'lock' then left[#left + 1] = wanted .. owner end
      if value or #left > 0 then
        left = table.concat(left, ' ')
        if left ~= value then changed_locks[#changed_locks + 1] = {key, field, left} end
      end
    end
  end
  p = p + count
end
local function write_locks()
  if #changed_locks == 0 then return end
  --#include "executor/scripts/shared/first_write.lua"
  for i = 1, #changed_locks do
    local key, field, left = unpack(changed_locks[i])
    if left == '' then call('HDEL', key, field) else call('HSET', key, field, left) end
  end
end

-- Section reads: what a stricter transaction has read. By table: the counter; 'whole' if nothing may have changed, else these rows: how
-- many, for each its fields (how many, names, values). KEYS: counter, rows.
for _ = 1, number() do
  -- (Definitions that change between 'precede' and 'follow' have moved counters themselves.)
  local is_same, is_whole = mode == 'follow' or (call('GET', keys[k]) or '') == argv[p], argv[p + 1] == 'whole'
  p, k = p + 2, k + 1
  if is_whole and not is_same then return {'changed'} end
  for _ = 1, number() do
    local fields = number()
    if not is_same then
      local values = call('HMGET', keys[k], unpack(argv, p, p + fields - 1))  -- bounded: the columns of a table
      for f = 1, fields do
        local expected = argv[p + fields + f - 1]
        if values[f] ~= expected and (values[f] or expected ~= '\0') then return {'changed'} end
      end
    end
    p, k = p + 2 * fields, k + 1
  end
end

-- Section new keys: how many, and how many of these, the first ones, must not be there. KEYS: new rows.
local new_first, new_count, checked = k, number(), number()
k = k + new_count
for first = 0, checked - 1, step do
  local last = math.min(first + step, checked) - 1
  if call('EXISTS', unpack(keys, new_first + first, new_first + last)) > 0 then  -- bounded: a piece
    for i = first, last do
      if call('EXISTS', keys[new_first + i]) > 0 then fail('row', i, '') end
    end
  end
end

-- Section old rows: groups: fate (drop, move, keep), how many, fields (how many, names), values of each row. KEYS: old rows.
local old_first = k
local groups = {}
for g = 1, number() do
  local fate, rows, fields = argv[p], tonumber(argv[p + 1]), tonumber(argv[p + 2])
  local names = {unpack(argv, p + 3, p + 2 + fields)}  -- bounded: the columns of a table
  p = p + 3 + fields
  groups[g] = {fate, k, rows}
  for _ = 1, rows do
    local values = fields > 0 and call('HMGET', keys[k], unpack(names))  -- bounded: the columns of a table
    for f = 1, fields do
      local expected = argv[p + f - 1]
      if values[f] ~= expected and expected ~= (values[f] and '\0+' or '\0') then
        fail('old', k - old_first, '')
        break
      end
    end
    p = p + fields
    k = k + 1
  end
end

-- Section unique values: by key how many, the values, the members that may own them. KEYS: hashes of unique values.
local unique_first = k
local position = 0
for _ = 1, number() do
  local count = number()
  if count == 0 then call('HLEN', keys[k]) end
  for first = 0, count - 1, step do
    local last = math.min(first + step, count) - 1
    local owners = call('HMGET', keys[k], unpack(argv, p + first, p + last))  -- bounded: a piece
    for i = 1, #owners do
      if owners[i] and owners[i] ~= argv[p + count + first + i - 1] then fail('unique', position + first + i - 1, owners[i]) end
    end
  end
  p = p + 2 * count
  position = position + count
  k = k + 1
end

-- Section sets: how many. KEYS: sets. (An intersection with a key that never exists is empty at once, after all types were looked at.)
local set_first, set_count = k, number()
k = k + set_count
for first = 0, set_count - 1, step do
  local last = math.min(first + step, set_count) - 1
  call('SINTERCARD', last - first + 2, kNoKey, unpack(keys, set_first + first, set_first + last))  -- bounded: a piece
end
-- Section zsets: how many. KEYS: zsets.
local zset_first, zset_count = k, number()
for i = 0, zset_count - 1 do call('ZCARD', keys[zset_first + i]) end
k = k + zset_count

-- Section parents: what foreign keys refer to: row or value, the value. KEYS: rows, or hashes of unique values.
for i = 1, number() do
  local exists
  if argv[p] == 'row' then exists = call('EXISTS', keys[k]) else exists = call('HEXISTS', keys[k], argv[p + 1]) end
  if exists == 0 then fail('parent', i - 1, '') end
  p, k = p + 2, k + 1
end
-- Section children: rows that refer to a row that goes: how many go, too; 1 if another call looks at more; their members. KEYS: sets.
for i = 1, number() do
  local count, goes_on, all, found = number(), number() == 1, call('SCARD', keys[k]), 0
  for first = 0, count - 1, step do
    if found == all then break end
    -- Bounded: a piece.
    for _, is_member in ipairs(call('SMISMEMBER', keys[k], unpack(argv, p + first, p + math.min(first + step, count) - 1))) do
      found = found + is_member
    end
  end
  if goes_on then fail('some', i - 1, found) elseif found < all then fail('child', i - 1, all - found) end
  p, k = p + count, k + 1
end

-- Section increments: fields that grow: number of the old row, field, by how much, the bound of the sum. They hold integers in their usual
-- spelling, whose sum a double holds exactly.
local increments = {}
for i = 1, number() do
  local index, field, bound = tonumber(argv[p]), argv[p + 1], tonumber(argv[p + 3])
  local value = call('HGET', keys[old_first + index], field)
  local is_number = value and #value < 17 and (value == '0' or string.find(value, '^%-?[1-9]%d*$'))
  local sum = is_number and tonumber(value) + tonumber(argv[p + 2])
  if not sum or sum > bound or sum < -bound then fail('increment', index, '') end
  increments[i] = {keys[old_first + index], field, argv[p + 2]}
  p = p + 4
end

-- A call that answered before this line has taken no lock.
if mode == 'lock' then write_locks() end
if #failed > 1 then return failed end
if mode == 'verify' or mode == 'precede' or mode == 'lock' then return {'verified'} end

-- APPLY. The counters come first: if one is no counter, nothing has changed yet. (shared/first_write.lua; only units that delete rows, or
-- undo a larger unit, go on while the memory is full.)
local makes_room = new_count == 0
for g = 1, #groups do makes_room = makes_room and groups[g][1] ~= 'keep' and groups[g][1] ~= 'move' end
makes_room = makes_room or argv[#argv] == 'undo'
for t = 1, tables do
  local count = redis.pcall('INCR', keys[1 + t])
  if makes_room and type(count) == 'table' and string.find(count.err, '^OOM') then
    --#include "executor/scripts/shared/first_write.lua"
    count = redis.pcall('INCR', keys[1 + t])
  end
  if type(count) == 'table' then
    local is_no_number = string.find(count.err, '^WRONGTYPE') or string.find(count.err, '^ERR')
    return is_no_number and not_a_counter(t) or count  -- no memory, …
  end
end

-- Rows that go.
local function each_chunk(count, width, run)
  local chunk = step - step % width
  for first = 0, count - 1, chunk do run(p + first, p + math.min(first + chunk, count) - 1) end
  p = p + count
end
local ttl = {}
for g = 1, #groups do
  local fate, first, rows = unpack(groups[g])
  if fate == 'move' then
    for i = 0, rows - 1 do ttl[#ttl + 1] = call('PTTL', keys[first + i]) end
  end
  if fate ~= 'keep' then
    -- Bounded: a piece.
    for i = 0, rows - 1, step do call('UNLINK', unpack(keys, first + i, first + math.min(i + step, rows) - 1)) end
  end
end

-- Section set removals: by set its number, how many, members.
for _ = 1, number() do
  local key, count = keys[set_first + number()], number()
  each_chunk(count, 1, function(from, to) call('SREM', key, unpack(argv, from, to)) end)  -- bounded: a piece
end
-- Section zset removals: by zset its number, how many, members.
for _ = 1, number() do
  local key, count = keys[zset_first + number()], number()
  each_chunk(count, 1, function(from, to) call('ZREM', key, unpack(argv, from, to)) end)  -- bounded: a piece
end
-- Section unique removals: by key its number, how many, the values, the members that must own them.
for _ = 1, number() do
  local key, count = keys[unique_first + number()], number()
  each_chunk(count, 1, function(from, to)
    local owners = call('HMGET', key, unpack(argv, from, to))  -- bounded: a piece
    local gone = {}
    for i = 1, #owners do
      if owners[i] == argv[from + count + i - 1] then gone[#gone + 1] = argv[from + i - 1] end
    end
    if #gone > 0 then call('HDEL', key, unpack(gone)) end  -- bounded: a piece
  end)
  p = p + count
end

-- Section new rows: runs of rows with the same fields: how many rows, how many fields, names, values of each row.
local new_next = new_first
for _ = 1, number() do
  local rows, width, row = number(), number(), {}
  for f = 1, width do row[2 * f - 1] = argv[p + f - 1] end
  p = p + width
  for _ = 1, rows do
    for f = 1, width do row[2 * f] = argv[p + f - 1] end
    p = p + width
    call('HSET', keys[new_next], unpack(row))  -- bounded: the columns of a table
    new_next = new_next + 1
  end
end
-- Section moved rows: for each old row that moves the number of its new row, which keeps the time to live.
for m = 1, #ttl do
  local key = keys[new_first + number()]
  if ttl[m] > 0 then call('PEXPIRE', key, ttl[m]) end
end
-- Section changed rows: number of the old row; fields to set and their values, fields to remove, each with how many words.
for _ = 1, number() do
  local key = keys[old_first + number()]
  local set = number()
  if set > 0 then call('HSET', key, unpack(argv, p, p + set - 1)) end  -- bounded: the columns of a table
  p = p + set
  local removed = number()
  if removed > 0 then call('HDEL', key, unpack(argv, p, p + removed - 1)) end  -- bounded: the columns of a table
  p = p + removed
end

for i = 1, #increments do call('HINCRBY', unpack(increments[i])) end  -- bounded: three words

-- Section expiries: by table its prefix, then rows: how many, for each its fate (gone, index, same, new), its number, member, time to live,
-- entries (shared/listed_entries.lua). KEYS: when rows are due, where they have entries. What an expired row of the same key has left
-- goes. Errors of these commands would leave the script half done.
for _ = 1, number() do
  local due, entries, try = keys[k], keys[k + 1], redis.pcall
  local prefix, time = argv[p], call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  p, k = p + 1, k + 2
  for _ = 1, number() do
    local fate, index, member, expiry, listed = argv[p], tonumber(argv[p + 1]), argv[p + 2], argv[p + 3], argv[p + 4]
    p = p + 5
    if fate == 'gone' then
      try('ZREM', due, member)
      try('HDEL', entries, member)
    elseif fate == 'index' then
      local before = try('HGET', entries, member)
      if type(before) == 'string' then try('HSET', entries, member, before .. listed) end
    else
      local row = fate == 'new' and keys[new_first + index] or keys[old_first + index]
      local before = fate == 'new' and try('HGET', entries, member)
      if type(before) == 'string' then forget(before, member) end
      if expiry == 'never' then call('PERSIST', row) elseif expiry ~= '' then call('PEXPIRE', row, expiry) end
      try('HSET', entries, member, listed)
      local left = call('PTTL', row)
      if left == -1 then
        try('ZREM', due, member)
      else
        try('ZADD', due, string.format('%.0f', now + math.max(left, 0) + 1), member)
        try('SADD', kExpiringKey, prefix)
      end
    end
  end
end

-- Section set additions: by set its number, how many, members.
for _ = 1, number() do
  local key, count = keys[set_first + number()], number()
  each_chunk(count, 1, function(from, to) call('SADD', key, unpack(argv, from, to)) end)  -- bounded: a piece
end
-- Section zset additions: by zset its number, how many words, scores and members.
for _ = 1, number() do
  local key, count = keys[zset_first + number()], number()
  each_chunk(count, 2, function(from, to) call('ZADD', key, unpack(argv, from, to)) end)  -- bounded: a piece
end
-- Section unique additions: by key its number, how many words, values and members.
for _ = 1, number() do
  local key, count = keys[unique_first + number()], number()
  each_chunk(count, 2, function(from, to) call('HSET', key, unpack(argv, from, to)) end)  -- bounded: a piece
end

-- Section emptied sets: sets and zsets that lost members: their number (zsets are behind sets), that of the set of values, the value.
for _ = 1, number() do
  local set, values = keys[set_first + number()], keys[set_first + number()]
  if call('EXISTS', set) == 0 then call('SREM', values, argv[p]) end
  p = p + 1
end
write_locks()
--#include "executor/scripts/shared/note_commit.lua"

-- Section journal: of a unit of many chunks: 'do' and how to undo this one, 'undo' if it undoes one, or "". KEYS: the journal.
if argv[p] == 'do' then call('RPUSH', keys[#keys], argv[p + 1]) end
if argv[p] == 'undo' then call('RPOP', keys[#keys]) end
return {'applied'}
