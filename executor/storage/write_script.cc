#include "executor/storage/write_script.h"

#include <string>

#include "executor/storage/catalog_store.h"
#include "executor/storage/row_expiry.h"

namespace redquel::executor {

namespace {

// Lua's stack holds about 8,000 values: no call takes more than 4,000 arguments. A check that finds something is noted and the
// others still run, so that the proxy knows the first violation of the statement and all rows to skip. '\0' stands for an absent
// field (no text of PostgreSQL holds a zero byte), and for "nobody" as owner of a unique value; '\0+' for a field that is there.
constexpr std::string_view kRows = R"lua(
local call, unpack, keys, argv = redis.call, unpack, KEYS, ARGV
local mode, token_key, token_slot, token_number = argv[1], argv[2], argv[3], argv[4]
local p, k = 5, 1
if token_key ~= '' then
  local number, word = string.match(call('HGET', token_key, token_slot) or '', '(%d+) (%a+)')
  if number and (tonumber(number) > tonumber(token_number) or number == token_number and word == 'fenced') then return {'fenced'} end
end
local step = 4000
local function number()
  local n = tonumber(argv[p])
  p = p + 1
  return n
end
local failed = {'failed'}
local function fail(kind, index, detail)
  local n = #failed
  failed[n + 1], failed[n + 2], failed[n + 3] = kind, index, detail
end

-- VERIFY. Tables: the definition that the proxy knows is the current one.
-- Arguments: how many, their numbers, their versions.
local function stale_table(count)
  local versions = count > 0 and mode ~= 'follow' and call('HMGET', keys[1], unpack(argv, p, p + count - 1))
  for t = 1, versions and count or 0 do
    if (versions[t] or '') ~= argv[p + count + t - 1] then return {'stale', argv[p + t - 1]} end
  end
  p = p + 2 * count
end
local tables = number()
local stale = stale_table(tables)
if stale then return stale end
-- (A call that stands for itself finds out before it changes anything else.)
local counts = mode == 'precede' and tables > 0 and call('MGET', unpack(keys, 2, 1 + tables)) or {}
local function not_a_counter(t) return redis.error_reply('WRONGTYPE ' .. keys[1 + t] .. ' is not a counter') end
for t = 1, #counts > 0 and tables or 0 do
  local count = counts[t] or call('GET', keys[1 + t])
  if count and not (#count < 18 and string.find(count, '^%d+$')) then return not_a_counter(t) end
end
k = tables + 2
stale = stale_table(number())
if stale then return stale end

-- Locks of transactions. 'lock' takes them, 'commit' (in two parts: 'precede' and 'follow') must still have them, 'apply' stands for itself.
local owner, lock_tables = argv[p], tonumber(argv[p + 1])
p = p + 2
local is_commit = mode == 'commit' or mode == 'precede' or mode == 'follow'
local living = {}
local function is_alive(token)
  local process = string.sub(token, 1, 16)
  if living[process] == nil then living[process] = call('EXISTS', 'redquel:process:' .. process) end
  return living[process] == 1
end
-- One look at the own lease and at the tables in which this call does not have locks already: seldom does anybody have some there.
-- (The lease counts for more than all of them together.)
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
    for _ = 1, leases do looked[#looked + 1] = 'redquel:process:' .. string.sub(owner, 1, 16) end
  end
  local found = #looked > 0 and call('EXISTS', unpack(looked)) or 0
  if found < leases then return {'lost'} end
  if owner ~= '' then living[string.sub(owner, 1, 16)] = 1 end
  is_free = found == leases
end
local changed_locks = {}
for t = 1, lock_tables do
  local key, count = keys[k], number()
  k = k + 1
  if mode ~= 'verify' and not (is_free and is_quiet[t]) then
    -- LOCK TABLE in SHARE mode and the stronger ones. A commit that has increments (mode 3) has taken no lock before.
    local looks, fields, values = not is_commit, {'t'}, {}
    for i = 1, count do
      looks = looks or string.sub(argv[p + i - 1], 1, 1) == '3'
      fields[i + 1] = string.sub(argv[p + i - 1], 2)
    end
    for first = 1, count + 1, step do
      local last = math.min(first + step, count + 2) - 1
      local found = call('HMGET', key, unpack(fields, first, last))
      for i = 1, #found do values[first + i - 1] = found[i] end
    end
    if looks and values[1] then
      for strength, token in string.gmatch(values[1], '(%d)(%S+)') do
        if tonumber(strength) >= 5 and token ~= owner and is_alive(token) then return {'locked', token, key, 't'} end
      end
    end
    for i = 1, count do
      local wanted, field = tonumber(string.sub(argv[p + i - 1], 1, 1)), fields[i + 1]
      -- A commit has its locks, except those of increments.
      local is_held = is_commit and wanted == 4
      local value, is_own, left = values[i + 1], false, {}
      if value then
        for strength, token in string.gmatch(value, '(%d)(%S+)') do
          if token == owner then
            is_own = true
            if tonumber(strength) > wanted then wanted = tonumber(strength) end
          elseif is_alive(token) then
            if not is_held and tonumber(strength) + wanted > 4 then return {'locked', token, key, field} end
            left[#left + 1] = strength .. token
          end
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
  if #changed_locks > 0 then call('UNLINK', 'redquel:none') end  -- Redis whose memory is full refuses a script's first write only
  for i = 1, #changed_locks do
    local key, field, left = unpack(changed_locks[i])
    if left == '' then call('HDEL', key, field) else call('HSET', key, field, left) end
  end
end

-- What a stricter transaction has read: nothing changed in the table, or at least not these rows.
for _ = 1, number() do
  local is_same, is_whole = (call('GET', keys[k]) or '') == argv[p], argv[p + 1] == 'whole'
  p, k = p + 2, k + 1
  if is_whole and not is_same then return {'changed'} end
  for _ = 1, number() do
    local fields = number()
    if not is_same then
      local values = call('HMGET', keys[k], unpack(argv, p, p + fields - 1))
      for f = 1, fields do
        local expected = argv[p + fields + f - 1]
        if values[f] ~= expected and (values[f] or expected ~= '\0') then return {'changed'} end
      end
    end
    p, k = p + 2 * fields, k + 1
  end
end

-- New rows: the first so many must not be there.
local new_first, new_count, checked = k, number(), number()
k = k + new_count
for first = 0, checked - 1, step do
  local last = math.min(first + step, checked) - 1
  if call('EXISTS', unpack(keys, new_first + first, new_first + last)) > 0 then
    for i = first, last do
      if call('EXISTS', keys[new_first + i]) > 0 then fail('row', i, '') end
    end
  end
end

-- Old rows, grouped by what happens to them and which fields must be unchanged.
local old_first = k
local groups = {}
for g = 1, number() do
  local fate, rows, fields = argv[p], tonumber(argv[p + 1]), tonumber(argv[p + 2])
  local names = {unpack(argv, p + 3, p + 2 + fields)}
  p = p + 3 + fields
  groups[g] = {fate, k, rows}
  for _ = 1, rows do
    local values = fields > 0 and call('HMGET', keys[k], unpack(names))
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

-- Unique values: free, or owned by the row that may own them.
local unique_first = k
local position = 0
for _ = 1, number() do
  local count = number()
  if count == 0 then call('HLEN', keys[k]) end
  for first = 0, count - 1, step do
    local last = math.min(first + step, count) - 1
    local owners = call('HMGET', keys[k], unpack(argv, p + first, p + last))
    for i = 1, #owners do
      if owners[i] and owners[i] ~= argv[p + count + first + i - 1] then fail('unique', position + first + i - 1, owners[i]) end
    end
  end
  p = p + 2 * count
  position = position + count
  k = k + 1
end

-- Every set and zset is one. (An intersection with a key that never exists is empty at once, after all types were looked at.)
local set_first, set_count = k, number()
k = k + set_count
for first = 0, set_count - 1, step do
  local last = math.min(first + step, set_count) - 1
  call('SINTERCARD', last - first + 2, 'redquel:none', unpack(keys, set_first + first, set_first + last))
end
local zset_first, zset_count = k, number()
for i = 0, zset_count - 1 do call('ZCARD', keys[zset_first + i]) end
k = k + zset_count

-- Foreign keys: what is referred to is there; nobody refers to what goes, apart from rows that go as well.
for i = 1, number() do
  local exists
  if argv[p] == 'row' then exists = call('EXISTS', keys[k]) else exists = call('HEXISTS', keys[k], argv[p + 1]) end
  if exists == 0 then fail('parent', i - 1, '') end
  p, k = p + 2, k + 1
end
for i = 1, number() do
  local count, goes_on, all, found = number(), number() == 1, call('SCARD', keys[k]), 0
  for first = 0, count - 1, step do
    if found == all then break end
    for _, is_member in ipairs(call('SMISMEMBER', keys[k], unpack(argv, p + first, p + math.min(first + step, count) - 1))) do
      found = found + is_member
    end
  end
  if goes_on then fail('some', i - 1, found) elseif found < all then fail('child', i - 1, all - found) end
  p, k = p + count, k + 1
end

-- Fields that grow: integers in their usual spelling, whose sum a double holds exactly.
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

-- Whatever answers otherwise has taken no lock.
if mode == 'lock' then write_locks() end
if #failed > 1 then return failed end
if mode == 'verify' or mode == 'precede' or mode == 'lock' then return {'verified'} end

-- APPLY. The counters come first: where one is none, nothing has changed yet.
-- (Redis whose memory is full refuses a script's first write only. Units that delete rows, or take a larger unit back, go on.)
local makes_room = new_count == 0
for g = 1, #groups do makes_room = makes_room and groups[g][1] ~= 'keep' and groups[g][1] ~= 'move' end
makes_room = makes_room or argv[#argv] == 'undo'
for t = 1, tables do
  local count = redis.pcall('INCR', keys[1 + t])
  if makes_room and type(count) == 'table' and string.find(count.err, '^OOM') then
    call('UNLINK', 'redquel:none')
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
    for i = 0, rows - 1, step do call('UNLINK', unpack(keys, first + i, first + math.min(i + step, rows) - 1)) end
  end
end

-- Entries that go.
for _ = 1, number() do
  local key, count = keys[set_first + number()], number()
  each_chunk(count, 1, function(from, to) call('SREM', key, unpack(argv, from, to)) end)
end
for _ = 1, number() do
  local key, count = keys[zset_first + number()], number()
  each_chunk(count, 1, function(from, to) call('ZREM', key, unpack(argv, from, to)) end)
end
for _ = 1, number() do
  local key, count = keys[unique_first + number()], number()
  each_chunk(count, 1, function(from, to)
    local owners = call('HMGET', key, unpack(argv, from, to))
    local gone = {}
    for i = 1, #owners do
      if owners[i] == argv[from + count + i - 1] then gone[#gone + 1] = argv[from + i - 1] end
    end
    if #gone > 0 then call('HDEL', key, unpack(gone)) end
  end)
  p = p + count
end

-- Rows that come, with the time to live of the row that they were; rows that change.
-- Those that have the same fields follow each other: the names are said once.
local new_next = new_first
for _ = 1, number() do
  local rows, width, row = number(), number(), {}
  for f = 1, width do row[2 * f - 1] = argv[p + f - 1] end
  p = p + width
  for i = 1, rows do
    for f = 1, width do row[2 * f] = argv[p + f - 1] end
    p = p + width
    call('HSET', keys[new_next], unpack(row))
    new_next = new_next + 1
  end
end
for m = 1, #ttl do
  local key = keys[new_first + number()]
  if ttl[m] > 0 then call('PEXPIRE', key, ttl[m]) end
end
for _ = 1, number() do
  local key = keys[old_first + number()]
  local set = number()
  if set > 0 then call('HSET', key, unpack(argv, p, p + set - 1)) end
  p = p + set
  local removed = number()
  if removed > 0 then call('HDEL', key, unpack(argv, p, p + removed - 1)) end
  p = p + removed
end

for i = 1, #increments do call('HINCRBY', unpack(increments[i])) end

-- Rows that expire: when they are due, and where they have entries. What a row of the same key has left behind that expired before
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
        try('SADD', 'redquel:expiring', prefix)
      end
    end
  end
end

-- Entries that come.
for _ = 1, number() do
  local key, count = keys[set_first + number()], number()
  each_chunk(count, 1, function(from, to) call('SADD', key, unpack(argv, from, to)) end)
end
for _ = 1, number() do
  local key, count = keys[zset_first + number()], number()
  each_chunk(count, 2, function(from, to) call('ZADD', key, unpack(argv, from, to)) end)
end
for _ = 1, number() do
  local key, count = keys[unique_first + number()], number()
  each_chunk(count, 2, function(from, to) call('HSET', key, unpack(argv, from, to)) end)
end

-- Values whose last row went.
for _ = 1, number() do
  local set, values = keys[set_first + number()], keys[set_first + number()]
  if call('EXISTS', set) == 0 then call('SREM', values, argv[p]) end
  p = p + 1
end
write_locks()
if token_key ~= '' then
  call('HSET', token_key, token_slot, token_number .. ' committed')
  if call('PTTL', token_key) < 43200000 then call('PEXPIRE', token_key, 86400000) end
end

-- The journal of a unit of many chunks: this one can be undone, or is.
if argv[p] == 'do' then call('RPUSH', keys[#keys], argv[p + 1]) end
if argv[p] == 'undo' then call('RPOP', keys[#keys]) end
return {'applied'}
)lua";

std::string rows_text() { return std::string(kForgetEntries) + std::string(kRows); }

// Sections that end with '', or with the number of words that their beginning says. The proxy has written the commands; what they must
// find is there first. Nothing that this script does not understand at once has changed anything when it gives up. (No functions and
// tables of its own: with few rows they are what the other script spends its time on.)
constexpr std::string_view kPlainWrite = R"lua(
local call, unpack, argv = redis.call, unpack, ARGV
local token_key, token_slot, token_number, owner, p = argv[1], argv[2], argv[3], argv[4], 5
local unclear = {'unclear'}
if token_key ~= '' then
  local before = call('HGET', token_key, token_slot)
  if before and tonumber(string.match(before, '%d+')) >= tonumber(token_number) then return unclear end
end

-- VERIFY. Hashes that hold what is expected, versions of definitions first: how many words, those of an HMGET; the values.
while argv[p] ~= '' do
  local last = p + argv[p]
  local found = call('HMGET', unpack(argv, p + 1, last))
  for i = 1, #found do
    local value, expected = found[i], argv[last + i]
    if value ~= expected and expected ~= (value and '\0+' or '\0') then return unclear end
  end
  p = last + #found + 1
end

-- Locks. How often the own lease is among the keys (it counts for more than all the tables), the tables in which the call has no locks.
local leases, last, is_free = argv[p + 1] + 0, p + 2 + argv[p + 2], true
if last > p + 2 then
  local found = call('EXISTS', unpack(argv, p + 3, last))
  if found < leases then return unclear end
  is_free = found == leases
end
p = last + 1
-- Table by table: how many fields are the owner's; how many words, the key and the fields, of which the others are nobody's.
while argv[p] ~= '' do
  local own, last = argv[p] + 0, p + 1 + argv[p + 1]
  if own > 0 or not is_free then
    local found = call('HMGET', unpack(argv, p + 2, last))
    for i = 1, #found do
      local value = found[i]
      if i > own then
        if value then return unclear end
      elseif not value or string.sub(value, 2) ~= owner then
        return unclear
      end
    end
  end
  p = last + 1
end

-- Keys of new rows.
p = p + 1
last = p + argv[p]
if last > p and call('EXISTS', unpack(argv, p + 1, last)) > 0 then return unclear end
p = last + 1
-- Commands that end in an error where a key is of another type.
while argv[p] ~= '' do
  last = p + argv[p]
  call(unpack(argv, p + 1, last))
  p = last + 1
end
-- Fields that grow: key, field, by how much, the bound. As in the other script.
p = p + 1
local first_increment = p
while argv[p] ~= '' do
  local value, bound = call('HGET', argv[p], argv[p + 1]), argv[p + 3] + 0
  if not value or #value > 16 or not (value == '0' or string.find(value, '^%-?[1-9]%d*$')) then return unclear end
  local sum = value + argv[p + 2]
  if sum > bound or sum < -bound then return unclear end
  p = p + 4
end
local last_increment = p - 1

-- APPLY. Counters first: where one is none, no row has changed.
p = p + 1
last = p + argv[p]
for i = p + 1, last do
  if type(redis.pcall('INCR', argv[i])) == 'table' then return unclear end
end
p = last + 1
for i = first_increment, last_increment, 4 do call('HINCRBY', argv[i], argv[i + 1], argv[i + 2]) end
while argv[p] ~= '' do
  last = p + argv[p]
  call(unpack(argv, p + 1, last))
  p = last + 1
end
-- Values whose last row went: the set, the set of values, the value.
for i = p + 1, #argv, 3 do
  if call('EXISTS', argv[i]) == 0 then call('SREM', argv[i + 1], argv[i + 2]) end
end
if token_key ~= '' then
  call('HSET', token_key, token_slot, token_number .. ' committed')
  if call('PTTL', token_key) < 43200000 then call('PEXPIRE', token_key, 86400000) end
end
return {'applied'}
)lua";

// The rows are verified with their locks, the definitions changed (which verifies them first), the rows written: 'follow' is 'commit'
// under versions that have just been replaced, and finds nothing that 'precede' has not looked at.
std::string combined_text() {
  std::string text = "local function rows(KEYS, ARGV)";
  text += rows_text();
  text += "end\nlocal function catalog(KEYS, ARGV)";
  text += commit_catalog_script().text();
  text += R"lua(end
local function slice(list, from, to)
  local part = {}
  for i = from, to do part[#part + 1] = list[i] end
  return part
end
local key_count, argument_count = tonumber(ARGV[1]), tonumber(ARGV[2])
local row_keys, row_arguments = slice(KEYS, key_count + 1, #KEYS), slice(ARGV, argument_count + 3, #ARGV)
row_arguments[1] = 'precede'
local result = rows(row_keys, row_arguments)
if result[1] ~= 'verified' then return result end
if catalog(slice(KEYS, 1, key_count), slice(ARGV, 3, argument_count + 2)) ~= 'committed' then return {'stale', ''} end
row_arguments[1] = 'follow'
return rows(row_keys, row_arguments)
)lua";
  return text;
}

}  // namespace

const Script& write_rows_and_catalog_script() {
  static const Script kScript("write_rows_and_catalog", combined_text());
  return kScript;
}

const Script& plain_write_script() {
  static const Script kScript("plain_write", kPlainWrite);
  return kScript;
}

const Script& write_rows_script() {
  static const Script kScript("write_rows", rows_text());
  return kScript;
}

}  // namespace redquel::executor
