-- The steps of write.lua: what a program (storage/write_program.h) may consist of. A step has a head
--   --#step NAME guard|effect: its words, the last one with a * if it is a list
-- a check, which only reads, and an effect has an apply, which cannot fail once all checks have passed. In both, $word stands for a word and
-- $list for the words of a list. Those that are used most come first: each comparison with a name counts.
-- A check that fails returns {'stop', p, …}: the place of its step, and what it found. Keys that must be sets are gathered in `sets`.

--#step version guard: oid version
--#check
local found = call('HGET', kVersionsKey, $oid)
if found ~= $version then return {'stop', p, found} end

--#step free guard: key fields*
-- No other owner has a lock of the table (LOCK TABLE), or of these rows and values.
--#check
if call('EXISTS', $key) == 1 then
  local found = call('HMGET', $key, 't', $fields)  -- bounded: 64 locks
  for i = 1, #found do
    if found[i] then return {'stop', p, i, found[i]} end
  end
end

--#step absent guard: key
--#check
if call('EXISTS', $key) == 1 then return {'stop', p} end

--#step row guard: key names_and_values*
-- Fields that hold these values: \0 is absent, \0+ any. First all names, then all values.
--#check
local half = (argv[p + 1] - 1) / 2
local found = call('HMGET', $key, unpack(argv, p + 3, p + 2 + half))  -- bounded: the columns of a table
for i = 1, half do
  local value, expected = found[i], argv[p + 2 + half + i]
  if value ~= expected and expected ~= (value and '\0+' or '\0') then return {'stop', p, i, value} end
end

--#step count effect: key
-- A table's counter of changes: the first effect. If it is not a counter, or the memory is full, no row has changed.
--#check
--#apply
if type(redis.pcall('INCR', $key)) == 'table' then return {'stop', p} end

--#step hset effect: key names_and_values*
--#check
--#apply
call('HSET', $key, $names_and_values)  -- bounded: the columns of a table

--#step set+ effect: values value member
-- A member comes to the set of a value, which has its name behind that of the set of values.
--#check
sets[#sets + 1] = $values
sets[#sets + 1] = $values .. ':' .. $value
--#apply
call('SADD', $values .. ':' .. $value, $member)
call('SADD', $values, $value)

--#step score+ effect: zset score member
--#check
call('ZCARD', $zset)
--#apply
call('ZADD', $zset, $score, $member)

--#step set- effect: values value member
--#check
sets[#sets + 1] = $values
sets[#sets + 1] = $values .. ':' .. $value
--#apply
call('SREM', $values .. ':' .. $value, $member)
if call('EXISTS', $values .. ':' .. $value) == 0 then call('SREM', $values, $value) end

--#step score- effect: zset member
--#check
call('ZCARD', $zset)
--#apply
call('ZREM', $zset, $member)

--#step take guard: key fields*
-- Reads fields of a row that the statement has not read. The first field shows whether there is such a row.
--#check
taken_row = call('HMGET', $key, $fields)  -- bounded: the columns of a table
if not taken_row[1] then return {'stop', p} end

--#step respect guard: key token modes fields*
-- No living process has a lock of these rows that conflicts with such modes, or one of the table that stops writes.
--#check
if call('EXISTS', $key) == 1 then
  local fields = {'t', $fields}  -- bounded: 1,000 rows
  local found = call('HMGET', $key, unpack(fields))  -- bounded: 1,000 rows
  for i = 1, #found do
    for mode, holder in string.gmatch(found[i] or '', kLockPattern) do
      local conflicts = i == 1 and mode + 0 >= 5 or i > 1 and mode + string.sub($modes, i - 1, i - 1) > 4
      if conflicts and holder ~= $token and call('EXISTS', kProcessPrefix .. string.sub(holder, 1, 16)) == 1 then
        return {'stop', p, holder, fields[i]}
      end
    end
  end
end

--#step sum guard: place number
-- An integer in that place of the fields that were taken, with a number added, as `hincr` adds it: the value that \1 stands for.
--#check
local old = taken_row[$place + 0]
if not old or #old > 16 or not (old == '0' or string.find(old, '^%-?[1-9]%d*$')) then return {'stop', p, old} end
sums = sums or {}
sums[$place] = string.format('%.0f', old + $number)

--#step move effect: values value member place
-- The row goes from the set of its old value, an integer in that place of the fields that were taken, to that of the new one; \0 is NULL,
-- \1 a sum.
--#check
local old, new = taken_row[$place + 0] or '\0', $value == '\1' and sums[$place] or $value
if old ~= new then
  if old ~= '\0' then
    if #old > 20 or not (old == '0' or string.find(old, '^%-?[1-9]%d*$')) then return {'stop', p, old} end
    sets[#sets + 1] = $values .. ':' .. old
  end
  if new ~= '\0' then sets[#sets + 1] = $values .. ':' .. new end
  sets[#sets + 1] = $values
end
--#apply
local old, new = taken_row[$place + 0] or '\0', $value == '\1' and sums[$place] or $value
if old ~= new then
  if old ~= '\0' then call('SREM', $values .. ':' .. old, $member) end
  if new ~= '\0' then
    call('SADD', $values .. ':' .. new, $member)
    call('SADD', $values, new)
  end
  if old ~= '\0' and call('EXISTS', $values .. ':' .. old) == 0 then call('SREM', $values, old) end
end

--#step rescore effect: zset score member place value
-- The row's score of its new value, if that is another one; none of NULL. A sum (\1) is its own score.
--#check
if (taken_row[$place + 0] or '\0') ~= $value then call('ZCARD', $zset) end
--#apply
local new, score = $value, $score
if new == '\1' then new, score = sums[$place], sums[$place] end
if (taken_row[$place + 0] or '\0') ~= new then
  if new == '\0' then call('ZREM', $zset, $member) else call('ZADD', $zset, score, $member) end
end

--#step mark effect: set member place value
-- A set of the rows whose value is NULL.
--#check
if (taken_row[$place + 0] == false) ~= ($value == '\0') then sets[#sets + 1] = $set end
--#apply
if (taken_row[$place + 0] == false) ~= ($value == '\0') then
  call($value == '\0' and 'SADD' or 'SREM', $set, $member)
end

--#step claim effect: hash value member
-- A unique value that only this row may have.
--#check
local owner = call('HGET', $hash, $value)
if owner and owner ~= $member then return {'stop', p, owner} end
--#apply
call('HSET', $hash, $value, $member)

--#step hincr effect: key field number bound
-- As PostgreSQL's integers: an error beyond the bound. Doubles are exact below it.
--#check
local value, bound = call('HGET', $key, $field), $bound + 0
if not value or #value > 16 or not (value == '0' or string.find(value, '^%-?[1-9]%d*$')) then return {'stop', p, value} end
local sum = value + $number
if sum > bound or sum < -bound then return {'stop', p, value} end
--#apply
call('HINCRBY', $key, $field, $number)

--#step drop effect: key
--#check
--#apply
call('UNLINK', $key)

--#step release effect: hash value member
-- A unique value goes, if the row has it.
--#check
call('HLEN', $hash)
--#apply
if call('HGET', $hash, $value) == $member then call('HDEL', $hash, $value) end

--#step member+ effect: set member
--#check
sets[#sets + 1] = $set
--#apply
call('SADD', $set, $member)

--#step member- effect: set member
--#check
sets[#sets + 1] = $set
--#apply
call('SREM', $set, $member)

--#step hdel effect: key fields*
--#check
--#apply
call('HDEL', $key, $fields)  -- bounded: the columns of a table, or 64 locks

--#step emptied effect: key values value
-- A set or zset of a value has lost a member: without members it is not listed.
--#check
sets[#sets + 1] = $values
--#apply
if call('EXISTS', $key) == 0 then call('SREM', $values, $value) end

--#step kind guard: key type
-- The key is absent or of the type.
--#check
local found = call('TYPE', $key).ok
if found ~= 'none' and found ~= $type then return {'stop', p, found} end

--#step run effect: command*
-- A command on a key of an application. One that the user may not run would leave the change half done.
--#check
if is_user and not redis.acl_check_cmd($command) then  -- bounded: a row
  return redis.error_reply('NOPERM the user has no permissions to run ' .. argv[p + 2] .. ' on a key of the table')
end
--#apply
call($command)  -- bounded: a row

--#step fields guard: key packed names*
-- Fields of a foreign hash hold these texts, one behind the other.
--#check
local found = redis.pcall('HMGET', $key, $names)  -- bounded: a row
if found.err then return not string.find(found.err, 'NOPERM', 1, true) and {'stop', p, found.err} or found end
for i = 1, #found do found[i] = found[i] and '+' .. #found[i] .. ':' .. found[i] or '-' end
if table.concat(found) ~= $packed then return {'stop', p} end

--#step reply guard: text command*
-- A foreign table's key is as it was read: the command answers that text.
--#check
local found = redis.pcall($command)  -- bounded: a row
if type(found) == 'table' then
  if found.err then return not string.find(found.err, 'NOPERM', 1, true) and {'stop', p, found.err} or found end
  found = found.ok
end
if not found or tostring(found) ~= $text then return {'stop', p} end

--#step inherit effect: hash value member from
-- A unique value that another row gives up.
--#check
local owner = call('HGET', $hash, $value)
if owner and owner ~= $from then return {'stop', p, owner} end
--#apply
call('HSET', $hash, $value, $member)

--#step lease guard: key
-- The own process has not been given up.
--#check
if call('EXISTS', $key) == 0 then return {'stop', p} end

--#step held guard: key owner fields*
-- The transaction alone has these locks.
--#check
local found = call('HMGET', $key, $fields)  -- bounded: 64 locks
for i = 1, #found do
  if not found[i] or string.sub(found[i], 2) ~= $owner then return {'stop', p, i, found[i]} end
end

--#step token guard: key slot number
-- The commit has not been made, nor was it decided that it shall not be.
--#check
local found = call('HGET', $key, $slot)
if found and tonumber(string.match(found, '%d+')) >= tonumber($number) then return {'stop', p, found} end

--#step committed effect: key slot number
-- The slots of an engine live a day longer.
--#check
--#apply
call('HSET', $key, $slot, $number .. ' committed')
if call('PTTL', $key) < 43200000 then call('PEXPIRE', $key, 86400000) end

--#step parent guard: key
--#check
if call('EXISTS', $key) == 0 then return {'stop', p} end

--#step parent_value guard: hash value
--#check
if call('HEXISTS', $hash, $value) == 0 then return {'stop', p} end

--#step no_children guard: set
-- No row refers to one that goes.
--#check
local found = call('SCARD', $set)
if found > 0 then return {'stop', p, found} end

--#step catalog guard: version
--#check
local found = call('GET', kVersionKey)
if (found or '') ~= $version then return {'stop', p, found} end

--#step nothing guard: command*
--#check
local found = redis.pcall($command)  -- bounded: a row
if type(found) == 'table' and found.err then return not string.find(found.err, 'NOPERM', 1, true) and {'stop', p, found.err} or found end
if found then return {'stop', p} end

--#step stream guard: key id
-- A new entry has an id behind all others.
--#check
local stream, last = redis.pcall('XINFO', 'STREAM', $key), '0-0'
for i = 1, #stream, 2 do
  if stream[i] == 'last-generated-id' then last = stream[i + 1] end
end
local time, number = string.match($id, '^(%d+)-(.+)$')
local last_time, last_number = string.match(last, '^(%d+)-(%d+)$')
local is_behind = tonumber(time) > tonumber(last_time)
if tonumber(time) == tonumber(last_time) then is_behind = number == '*' or tonumber(number) > tonumber(last_number) end
if not stream.err and not is_behind then return {'stop', p} end

--#step look_in guard: database
-- The following guards are about keys of this logical database.
--#check
call('SELECT', $database)

--#step write_in effect: database
-- So are the following effects, which are replicated and logged there.
--#check
call('SELECT', $database)
--#apply
call('SELECT', $database)

--#step as_user guard: has_guard
-- The program runs as another Redis user than redquel's own login; 1: behind guard_write.lua, which has looked at version and locks. A
-- user who may write redquel's keys can do all at once. (So can redquel's own login, which has the connection if the other one was refused.)
--#check
is_user = true
if $has_guard == '1' and redis.acl_check_cmd('SET', kVersionKey, '') then return {'own'} end

--#step forget_sets effect: names member
-- Takes a member out of all sets whose keys are in a set.
--#check
if is_user and not redis.acl_check_cmd('SMEMBERS', $names) then
  return redis.error_reply('NOPERM the user has no permissions to run SMEMBERS on a key of the table')
end
--#apply
local found = redis.pcall('SMEMBERS', $names)
for i = 1, #found do redis.pcall('SREM', found[i], $member) end

--#step forget_fields effect: entries
-- Takes fields out of the hashes that a hash names.
--#check
if is_user and not redis.acl_check_cmd('HGETALL', $entries) then
  return redis.error_reply('NOPERM the user has no permissions to run HGETALL on a key of the table')
end
--#apply
local found = redis.pcall('HGETALL', $entries)
for i = 1, #found, 2 do redis.pcall('HDEL', found[i], found[i + 1]) end

--#step unprepared guard: name
-- A commit over several buckets comes to this one.
--#check
commit = $name
local is_buried = call('ZSCORE', kTombstonesKey, commit)
if is_buried or call('HEXISTS', kPreparedKey, commit) == 1 or call('ZSCORE', kAppliedKey, commit) then
  call('HINCRBY', kCommitNumbersKey, 'touched', 1)
  return {is_buried and 'aborted' or 'prepared'}
end

--#step lasting guard: key
-- A row that does not expire before the commit is applied.
--#check
if call('PTTL', $key) >= 0 then return {'stop', p} end

--#step counter guard: key
--#check
local found = call('GET', $key)
if found and found ~= '0' and not (#found < 18 and string.find(found, '^[1-9]%d*$')) then return {'stop', p, found} end

--#step pledge guard: key owner own modes fields*
-- Locks that become those of a prepared commit: so many first ones are the owner's, the others get a mode each.
--#check
local own, fields = $own + 0, {$fields}
local found = call('HMGET', $key, 't', unpack(fields))  -- bounded: 64 locks
if found[1] then return {'stop', p, 0, found[1]} end
local strengths, before, words = {}, {}, {$key}
for i = 1, #fields do
  local value, strength, others = found[i + 1], nil, ''
  if i > own then
    if value then return {'stop', p, i, value} end
    strength, before[i] = string.sub($modes, i - own, i - own), ''
  else
    for mode, token in string.gmatch(value or '', kLockPattern) do
      if token == $owner then strength = mode else others = others .. mode .. token .. ' ' end
    end
    if not strength then return {'stop', p, i, value} end
    before[i] = strength
  end
  strengths[i] = strength
  words[2 * i], words[2 * i + 1] = fields[i], others .. strength .. commit
end
locks, taken = locks or {}, taken or {}
locks[#locks + 1], taken[#taken + 1] = {$key, strengths, fields, before}, words

--#step record effect: owner redo
-- Prepares a commit: the effects in front of it are only checked, and are what apply_commit.lua does.
--#check
first = p
--#apply
call('SET', kProcessPrefix .. string.sub(commit, 1, 16), 'prepared')
for _, words in ipairs(taken or {}) do call('HSET', unpack(words)) end  -- bounded: 64 locks
call('HSET', kPreparedKey, commit, cmsgpack.pack({$redo, false, locks or {}, {}, false, {}, $owner}))
return {'prepared'}
