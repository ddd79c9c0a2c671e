-- The steps of programs: what a program (storage/write_program.h) may consist of. A step has a head
--   --#step NAME guard|effect: its words, the last one with a * if it is a list
-- a check, which only reads, and an effect has an apply, which cannot fail once all checks have passed. In both, $word stands for a word,
-- $list for the words of a list, $first and $last for their places. A check that fails returns {'stop', p, …}: the place of its step, and what
-- it found. Those of many rows note what they find instead (`fail`), and the others still run. Keys that must be sets are gathered in `sets`.
-- A line "--#group NAME" begins a group. A script names the groups that it has, in the order of its comparisons ("--#steps NAME …"): those
-- that it needs most come first, for each comparison with a name counts.

--#group rows

--#step version guard: oid version
-- Of a table that its transaction has made it is empty.
--#check
local found = call('HGET', kVersionsKey, $oid)
if (found or '') ~= $version then return {'stop', p, found} end

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
local result = redis.pcall('INCR', $key)
if type(result) == 'table' then return {'stop', p, result.err} end

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
if not is_integer(old, 16) then return {'stop', p, old} end
sums = sums or {}
sums[$place] = string.format('%.0f', old + $number)

--#step move effect: values value member place
-- The row goes from the set of its old value, an integer in that place of the fields that were taken, to that of the new one; \0 is NULL,
-- \1 a sum.
--#check
local old, new = taken_row[$place + 0] or '\0', $value == '\1' and sums[$place] or $value
if old ~= new then
  if old ~= '\0' then
    if not is_integer(old, 20) then return {'stop', p, old} end
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
if not is_integer(value, 16) then return {'stop', p, value} end
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
-- The own process has not been given up. No renewal arrives while the script runs, so a long one makes the lease last longer first.
--#check
if call('EXISTS', $key) == 0 then return {'stop', p} end
if count > 4000 then
  local left = call('PTTL', $key)
  if left > 0 and left < 60000 then call('PEXPIRE', $key, 60000) end
end

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

--#step counter guard: key
--#check
local found = call('GET', $key)
if found and not is_counter(found) then return {'stop', p, found} end

--#group many

--#step absents guard: keys*
-- Keys of new rows.
--#check
for from = $first, $last, 4000 do
  local to = math.min(from + 3999, $last)
  if call('EXISTS', unpack(argv, from, to)) > 0 then  -- bounded: a piece
    for i = from, to do
      if call('EXISTS', argv[i]) > 0 then fail(p, i - p - 2, '') end
    end
  end
end

--#step same_rows guard: width names_and_rows*
-- Rows whose fields hold these values: so many names, then row by row the key and the values (\0 is absent, \0+ any).
--#check
local i, last, width, number = $first, $last, $width + 0, 0
local names = {unpack(argv, i, i + width - 1)}  -- bounded: the columns of a table
i = i + width
while i < last do
  local found = call('HMGET', argv[i], unpack(names))  -- bounded: the columns of a table
  for f = 1, width do
    local value, expected = found[f], argv[i + f]
    if value ~= expected and expected ~= (value and '\0+' or '\0') then
      fail(p, number, '')
      break
    end
  end
  i, number = i + width + 1, number + 1
end

--#step hsets effect: width names_and_rows*
-- New rows with the same fields: so many names, then row by row the key and the values.
--#check
--#apply
local i, last, width, row = $first, $last, $width + 0, {}
for f = 1, width do row[2 * f - 1] = argv[i + f - 1] end
i = i + width
while i < last do
  for f = 1, width do row[2 * f] = argv[i + f] end
  call('HSET', argv[i], unpack(row))  -- bounded: the columns of a table
  i = i + width + 1
end

--#step sets+ effect: values groups*
-- Members come to the sets of values: set by set the value, how many members, the members.
--#check
note_sets(sets, argv, $first, $last, $values)
--#apply
local i, last, values, listed = $first, $last, $values, {}
while i < last do
  local value, next = argv[i], i + 2 + argv[i + 1]
  listed[#listed + 1] = value
  send('SADD', values .. ':' .. value, argv, i + 2, next - 1)
  i = next
end
send('SADD', values, listed, 1, #listed)

--#step scores+ effect: zset scores_and_members*
--#check
call('ZCARD', $zset)
--#apply
send('ZADD', $zset, argv, $first, $last)

--#step claims effect: hash values_and_members*
-- Unique values that only these rows may have.
--#check
local values, begin = {}, $first
for i = begin, $last, 2 do values[#values + 1] = argv[i] end
each_piece(1, #values, function(from, to)
  local owners = call('HMGET', $hash, unpack(values, from, to))  -- bounded: a piece
  for i = 1, #owners do
    local number = from + i - 2
    if owners[i] and owners[i] ~= argv[begin + 2 * number + 1] then fail(p, number, owners[i]) end
  end
end)
--#apply
send('HSET', $hash, argv, $first, $last)

--#step pass guard: key owner modes fields*
-- No other living process has a lock of these rows and values that conflicts with such modes, or one of the table that stops writes.
--#check
local stop = call('EXISTS', $key) == 1 and look_at_locks(argv, p, 'pass')
if stop then return stop end

--#step sets- effect: values groups*
-- Members go out of the sets of values, as they come by sets+. A value without members is not listed.
--#check
note_sets(sets, argv, $first, $last, $values)
--#apply
local i, last, values, gone = $first, $last, $values, {}
while i < last do
  local value, next = argv[i], i + 2 + argv[i + 1]
  local key = values .. ':' .. value
  send('SREM', key, argv, i + 2, next - 1)
  if call('EXISTS', key) == 0 then gone[#gone + 1] = value end
  i = next
end
send('SREM', values, gone, 1, #gone)

--#step scores- effect: zset members*
--#check
call('ZCARD', $zset)
--#apply
send('ZREM', $zset, argv, $first, $last)

--#step drops effect: keys*
--#check
--#apply
for first = $first, $last, 4000 do
  call('UNLINK', unpack(argv, first, math.min(first + 3999, $last)))  -- bounded: a piece
end

--#step releases effect: hash values_and_members*
-- Unique values go, if the rows have them. First all values, then all members.
--#check
call('HLEN', $hash)
--#apply
local begin, half = $first, ($last - $first + 1) / 2
each_piece(begin, begin + half - 1, function(from, to)
  local owners, gone = call('HMGET', $hash, unpack(argv, from, to)), {}  -- bounded: a piece
  for i = 1, #owners do
    if owners[i] == argv[from + half + i - 1] then gone[#gone + 1] = argv[from + i - 1] end
  end
  send('HDEL', $hash, gone, 1, #gone)
end)

--#step changes effect: rows*
-- Rows that stay: row by row the key, how many words, fields and values to set; how many, fields to remove.
--#check
--#apply
local i, last = $first, $last
while i < last do
  local key, next = argv[i], i + 2 + argv[i + 1]
  if next > i + 2 then call('HSET', key, unpack(argv, i + 2, next - 1)) end  -- bounded: the columns of a table
  i = next + 1 + argv[next]
  if i > next + 1 then call('HDEL', key, unpack(argv, next + 1, i - 1)) end  -- bounded: the columns of a table
end

--#step adds effect: increments*
-- Fields that grow, each as hincr says: the key, the field, the number, the bound.
--#check
for i = $first, $last, 4 do
  local value, bound = call('HGET', argv[i], argv[i + 1]), argv[i + 3] + 0
  if not is_integer(value, 16) then return {'stop', p, value} end
  local sum = value + argv[i + 2]
  if sum > bound or sum < -bound then return {'stop', p, value} end
end
--#apply
for i = $first, $last, 4 do call('HINCRBY', argv[i], argv[i + 1], argv[i + 2]) end

--#step members+ effect: set members*
--#check
sets[#sets + 1] = $set
--#apply
send('SADD', $set, argv, $first, $last)

--#step members- effect: set members*
--#check
sets[#sets + 1] = $set
--#apply
send('SREM', $set, argv, $first, $last)

--#step lock guard: key owner modes fields*
-- Takes locks of rows and values, once all checks have run, whatever they have found.
--#check
local stop = look_at_locks(argv, p, 'take')
if stop then return stop end

--#step give guard: key owner modes fields*
-- Locks that the transaction has, and gives back after all effects.
--#check
local stop = look_at_locks(argv, p, 'give')
if stop then return stop end

--#step owners guard: hash values_and_members*
-- Unique values that only these rows may own. First all values, then all members.
--#check
local begin, half = $first, ($last - $first + 1) / 2
each_piece(begin, begin + half - 1, function(from, to)
  local owners = call('HMGET', $hash, unpack(argv, from, to))  -- bounded: a piece
  for i = 1, #owners do
    if owners[i] and owners[i] ~= argv[from + half + i - 1] then fail(p, from - begin + i - 1, owners[i]) end
  end
end)

--#step owns effect: hash values_and_members*
-- Unique values come, whose owners another step has looked at.
--#check
call('HLEN', $hash)
--#apply
send('HSET', $hash, argv, $first, $last)

--#step emptieds effect: values keys_and_values*
-- As emptied, for many values of one set.
--#check
sets[#sets + 1] = $values
--#apply
local gone = {}
for i = $first, $last, 2 do
  if call('EXISTS', argv[i]) == 0 then gone[#gone + 1] = argv[i + 1] end
end
send('SREM', $values, gone, 1, #gone)

--#step parents guard: places*
-- What rows refer to: key and \0 of a row, hash and field of a unique value.
--#check
for i = $first, $last, 2 do
  local exists
  if argv[i + 1] == '\0' then exists = call('EXISTS', argv[i]) else exists = call('HEXISTS', argv[i], argv[i + 1]) end
  if exists == 0 then fail(p, (i - p - 2) / 2, '') end
end

--#step children guard: set goes_on members*
-- Only these rows refer to one that goes. 1: another program looks at more of them.
--#check
local all, found = call('SCARD', $set), 0
each_piece($first, all > 0 and $last or 0, function(from, to)
  for _, is_member in ipairs(call('SMISMEMBER', $set, unpack(argv, from, to))) do found = found + is_member end  -- bounded: a piece
end)
if $goes_on == '1' then fail(p, 1, found) elseif found < all then fail(p, 0, all - found) end

--#step are_sets guard: keys*
--#check
for i = $first, $last do sets[#sets + 1] = argv[i] end

--#step are_zsets guard: keys*
--#check
for i = $first, $last do call('ZCARD', argv[i]) end

--#step still guard: counter value
-- A table that a stricter transaction has read as a whole has not changed.
--#check
if (call('GET', $counter) or '') ~= $value then return {'stop', p} end

--#step since guard: counter value
-- Where a table has changed, the following steps as_read are looked at.
--#check
is_same = (call('GET', $counter) or '') == $value

--#step as_read guard: key names_and_values*
--#check
local half, found = is_same and 0 or (argv[p + 1] - 1) / 2, {}
if half > 0 then found = call('HMGET', $key, unpack(argv, p + 3, p + 2 + half)) end  -- bounded: the columns of a table
for i = 1, half do
  local value, expected = found[i], argv[p + 2 + half + i]
  if value ~= expected and (value or expected ~= '\0') then return {'stop', p} end
end

--#step depart effect: keys*
-- Rows that get another key.
--#check
--#apply
for i = $first, $last do
  times[#times + 1] = call('PTTL', argv[i])
  call('UNLINK', argv[i])
end

--#step arrive effect: keys*
-- Their new keys, in the same order: the times to live stay.
--#check
--#apply
for i = $first, $last do
  local time = times[i - p - 1]
  if time > 0 then call('PEXPIRE', argv[i], time) end
end

--#step expire effect: due entries prefix records*
-- Rows of a table whose rows expire: record by record the fate (gone, index, same, new), the row's key, its member, the time to live, its
-- entries (shared/listed_entries.lua). What an expired row of the same key has left goes. Errors of these commands would leave the program
-- half done.
--#check
--#apply
local due, entries, prefix, try, time = $due, $entries, $prefix, redis.pcall, call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = $first, $last, 5 do
  local fate, row, member, expiry, listed = argv[i], argv[i + 1], argv[i + 2], argv[i + 3], argv[i + 4]
  if fate == 'gone' then
    try('ZREM', due, member)
    try('HDEL', entries, member)
  elseif fate == 'index' then
    local before = try('HGET', entries, member)
    if type(before) == 'string' then try('HSET', entries, member, before .. listed) end
  else
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

--#step room effect: key
-- Redis whose memory is full refuses only the first write of a script. This one takes no memory: a key that never exists.
--#check
--#apply
call('UNLINK', $key)

--#step journal effect: key record
-- How to undo this chunk of a unit.
--#check
call('LINDEX', $key, '-1')
--#apply
call('RPUSH', $key, $record)

--#step unjournal effect: key
-- The last chunk of a unit is undone.
--#check
call('LINDEX', $key, '-1')
--#apply
call('RPOP', $key)

--#group mend

--#step no_hash guard: key
-- Another program's key is still of another type, so it is no row.
--#check
if call('TYPE', $key).ok == 'hash' then return {'stop', p} end

--#step retypes effect: type keys*
-- Keys of another type go.
--#check
--#apply
for i = $first, $last do
  local found = call('TYPE', argv[i]).ok
  if found ~= 'none' and found ~= $type then call('UNLINK', argv[i]) end
end

--#step adopt effect: hash value member from
-- A unique value without an owner, or of a row that gives it up, so that it is guarded at every moment.
--#check
call('HLEN', $hash)
--#apply
local owner = call('HGET', $hash, $value)
if not owner or owner == $from then call('HSET', $hash, $value, $member) end

--#step raise effect: counter least
-- A counter holds at least that number. '': it is a counter or absent.
--#check
call('GET', $counter)
--#apply
local value, least = call('GET', $counter), $least
local is_behind = not value or not is_counter(value) or #value < #least or #value == #least and value < least
if least ~= '' then
  if is_behind then call('SET', $counter, least) end
elseif value and not is_counter(value) then
  call('UNLINK', $counter)
end

--#step relocate effect: zset field prefix width names_and_rows*
-- Rows come to keys that a field of theirs, an integer, gives them, and into their zset: so many fields that they lose, then the old keys.
-- Finds 'null' and 'odd' of a field, 'twice' and 'strange' of a key that another row or another program has.
--#check
local from, keys, rows = $first + $width, {}, {}
for i = from, $last do
  local value = call('HGET', argv[i], $field)
  if not value and call('EXISTS', argv[i]) == 1 then return {'stop', p, 'null'} end
  if value and not is_integer(value, 20) then return {'stop', p, 'odd', value} end
  if value and rows[value] then return {'stop', p, 'twice', value} end
  if value then
    rows[value] = true
    keys[#keys + 1] = $prefix .. value
    relocated[#relocated + 1] = value
    relocated[#relocated + 1] = argv[i]
  end
end
local taken = 0
each_piece(1, #keys, function(first, last) taken = taken + call('EXISTS', unpack(keys, first, last)) end)  -- bounded: a piece
if taken > 0 then
  for i = 1, #keys do
    local value = relocated[2 * i - 1]
    local what = call('ZSCORE', $zset, value) and 'twice' or 'strange'
    if call('EXISTS', keys[i]) == 1 then return {'stop', p, what, value} end
  end
end
--#apply
local scores, prefix, width, from = {}, $prefix, $width + 0, $first
for i = 1, #relocated, 2 do
  local value = relocated[i]
  call('COPY', relocated[i + 1], prefix .. value)
  if width > 0 then call('HDEL', prefix .. value, unpack(argv, from, from + width - 1)) end  -- bounded: the columns of a table
  scores[#scores + 1] = value
  scores[#scores + 1] = value
end
send('ZADD', $zset, scores, 1, #scores)

--#group definitions

--#step definitions effect: key_count words*
-- A change of definitions: keys and arguments of commit_catalog.lua.
--#check
local behind, keys, words = $first + $key_count, {}, {}
for i = $first, behind - 1 do keys[#keys + 1] = argv[i] end
for i = behind, $last do words[#words + 1] = argv[i] end
local refusal
refusal, change_catalog = catalog_change(keys, words)
if refusal then return {'stop', p} end
--#apply
change_catalog()

--#group prepare

--#step unprepared guard: name
-- A commit over several buckets comes to this one.
--#check
commit = $name
local is_buried = call('ZSCORE', kTombstonesKey, commit)
if is_buried or call('HEXISTS', kPreparedKey, commit) == 1 or call('ZSCORE', kAppliedKey, commit) then
  call('HINCRBY', kCommitNumbersKey, 'touched', 1)
  return {is_buried and 'aborted' or 'prepared'}
end

--#step pledge guard: key owner own modes fields*
-- Locks that become those of a prepared commit: so many first ones are the owner's, the others get a mode each.
--#check
local own, fields, values = $own + 0, read_locks($key, argv, $first, $last)
for mode, token in string.gmatch(values[1] or '', kLockPattern) do
  local stops = stops_writes(mode) and token ~= $owner
  if stops and (own < #fields - 1 and is_alive(token) or call('HEXISTS', kPreparedKey, token) == 1) then return {'stop', p, token, 't'} end
end
local strengths, names, before, words = {}, {}, {}, {}
for i = 1, #fields - 1 do
  local strength, others = nil, ''
  local wanted = i > own and string.sub($modes, i - own, i - own)
  for mode, token in string.gmatch(values[i + 1] or '', kLockPattern) do
    if token == $owner then
      if not strength or mode > strength then strength = mode end
    elseif i <= own or is_alive(token) then
      local own_mode = wanted and strength and strength > wanted and strength or wanted
      if wanted and rows_conflict(mode, own_mode) then return {'stop', p, token, fields[i + 1]} end
      others = others .. mode .. token .. ' '
    end
  end
  if not wanted and not strength then return {'stop', p} end
  before[i] = strength or ''
  strengths[i], names[i] = strength or wanted, fields[i + 1]
  words[2 * i - 1], words[2 * i] = names[i], others .. strengths[i] .. commit
end
locks[#locks + 1], taken[#taken + 1] = {$key, strengths, names, before}, words

--#step lasting guard: keys*
-- Rows that must not expire before the commit is applied or aborted.
--#check
for i = $first, $last do
  local due = call('PEXPIRETIME', argv[i])
  if due >= 0 then expiries[#expiries + 1] = {argv[i], string.format('%.0f', due)} end
end

--#step reading guard: locks*
-- Locks of tables that were read and stay as they are until the commit is applied: writes of these tables wait (those of transactions, when
-- they commit), and no other prepared commit writes them.
--#check
local prepared = call('HLEN', kPreparedKey)
for i = $first, $last do
  reading[#reading + 1] = argv[i]
  local held = prepared > 0 and call('HGETALL', argv[i]) or {}
  for f = 1, #held, 2 do
    for mode, token in string.gmatch(held[f] ~= 't' and held[f + 1] or '', kLockPattern) do
      if mode + 0 >= 3 and call('HEXISTS', kPreparedKey, token) == 1 then return {'stop', p, token, held[f], argv[i]} end
    end
  end
end

--#step parts guard: words*
-- Definitions that change with the commit (shared/definitions.lua).
--#check
local words = {}
for i = $first, $last do words[#words + 1] = argv[i] end
part = definitions_part(words)
if not may_define(part) then return {'stop', p} end

--#step record effect: owner redo
-- Prepares a commit: the effects in front of it are only checked, and are what apply_commit.lua does. `redo`: their words as MessagePack.
--#check
first = p
--#apply
call('SET', kProcessPrefix .. string.sub(commit, 1, 16), 'prepared')
for i = 1, #locks do send('HSET', locks[i][1], taken[i], 1, #taken[i]) end
for _, key in ipairs(reading) do
  local held = call('HGET', key, 't')
  call('HSET', key, 't', (held and held .. ' ' or '') .. '5' .. commit)
end
for _, expiry in ipairs(expiries) do call('PERSIST', expiry[1]) end
local state = part and begin_definitions(commit, part) or false
call('HSET', kPreparedKey, commit, cmsgpack.pack({$redo, 2, locks, false, state, reading, $owner, expiries}))
return {'prepared'}
