-- Records of prepared commits: {words of a program's effects as MessagePack, 2 (the form), locks, false, state of shared/definitions.lua or
-- false, locks of tables, token of the session, expiries}. An older redquel cannot read the false and leaves the record alone.
-- locks: by hash {key, strengths, fields, strengths of the session's own locks before ("": none)}. expiries: {row, milliseconds since
-- 1970}. locks of tables: the keys of locks of tables that the commit has read and that must not change.
-- The locks of a prepared commit have its name as their token, and a lease that does not end. Defines:
--   milliseconds()             the time
--   read_record(name)          nil: there is none; an error for one that an older redquel has written
--   remove_record(name)
--   bury(name)                 leaves a tombstone; removes two that are older than a day
--   touch()                    writes something: WAIT behind a script that has written nothing may return at once
--   unlock(name, locks, session)  takes the name out of locks; a session that is named gets back those that it had
--   unlock_tables(name, keys)  takes the name out of locks of tables
local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function read_record(name)
  local packed = redis.call('HGET', kPreparedKey, name)
  local record = packed and cmsgpack.unpack(packed)
  if record and record[2] ~= 2 then
    return redis.error_reply('ERR an older redquel has prepared a commit: run that version until redquel:prepared is empty')
  end
  return record
end
local function touch() redis.call('HINCRBY', kCommitNumbersKey, 'touched', 1) end
local function unlock(name, locks, session)
  for _, lock in ipairs(locks) do
    local key, fields, before = lock[1], lock[3], lock[4]
    for i, field in ipairs(fields) do
      local value, left = redis.call('HGET', key, field), {}
      for mode, token in string.gmatch(value or '', kLockPattern) do
        if token ~= name then left[#left + 1] = mode .. token
        elseif session and before and before[i] ~= '' then left[#left + 1] = before[i] .. session end
      end
      left = table.concat(left, ' ')
      if value and left == '' then redis.call('HDEL', key, field) end
      if value and left ~= '' and left ~= value then redis.call('HSET', key, field, left) end
    end
  end
end
local function unlock_tables(name, keys)
  for _, key in ipairs(keys or {}) do unlock(name, {{key, {}, {'t'}}}) end
end
local function remove_record(name)
  redis.call('HDEL', kPreparedKey, name)
  redis.call('UNLINK', kProcessPrefix .. string.sub(name, 1, 16))
end
local function bury(name)
  local now = milliseconds()
  redis.call('ZADD', kTombstonesKey, string.format('%.0f', now), name)
  local oldest = redis.call('ZRANGE', kTombstonesKey, 0, 1, 'WITHSCORES')
  for i = 1, #oldest, 2 do
    if oldest[i + 1] + 86400000 < now then redis.call('ZREM', kTombstonesKey, oldest[i]) end
  end
end
