-- The part of a change of definitions in one bucket of a cluster, as words: how many checks, each with four words: get (key, "", value),
-- hget (hash, field, value), next (hash, field, value, or absent) or free (hash, field, ""); an absent value is ""; then tables that are
-- exclusive from prepare to apply, how many and their oids; commands, each with its number of words. Commands with "@early" in
-- front run when the change is prepared. Defines:
--   definitions_part(words)            {checks, oids, early commands, commands}
--   may_define(part)                   whether the checks hold
--   begin_definitions(name, part)      runs the early commands, marks the tables; returns what end_definitions needs
--   end_definitions(name, state)       applied: removes the marks
--   undo_definitions(name, state)      aborted: removes the marks, the tables have their versions again
--   define(commands)
local function definitions_part(words)
  local p, part = 1, {{}, {}, {}, {}}
  local function take()
    p = p + 1
    return tonumber(words[p - 1])
  end
  for i = 1, take() do
    part[1][i] = {words[p], words[p + 1], words[p + 2], words[p + 3]}
    p = p + 4
  end
  for i = 1, take() do
    part[2][i] = words[p]
    p = p + 1
  end
  while p <= #words do
    local command = {}
    for i = 1, take() do
      command[i] = words[p]
      p = p + 1
    end
    if command[1] == '@early' then
      table.remove(command, 1)
      table.insert(part[3], command)
    else
      table.insert(part[4], command)
    end
  end
  return part
end
local function may_define(part)
  for _, check in ipairs(part[1]) do
    local kind, key, field, expected = unpack(check)
    if kind == 'free' then
      if redis.call('HEXISTS', key, field) == 1 then return false end
    elseif kind == 'get' then
      if (redis.call('GET', key) or '') ~= expected then return false end
    elseif (redis.call('HGET', key, field) or (kind == 'next' and expected or '')) ~= expected then
      return false
    end
  end
  return true
end
local function define(commands)
  for _, command in ipairs(commands) do
    if command[1] ~= '@rename' then
      redis.call(unpack(command))  -- bounded: 2,000 words by the caller
    elseif redis.call('EXISTS', command[2]) == 1 then
      redis.call('RENAME', command[2], command[3])
    end
  end
end
local function begin_definitions(name, part)
  define(part[3])
  local marks = {}
  for i, oid in ipairs(part[2]) do
    local before = redis.call('HGET', kVersionsKey, oid) or ''
    marks[i] = {oid, before}
    redis.call('HSET', kExclusiveKey, oid, name .. ' ' .. name .. ' ' .. before .. ' ')
    if before ~= '' then redis.call('HSET', kVersionsKey, oid, name) end
  end
  redis.call('SET', kUnitLeasePrefix .. name, name)
  return {marks, part[4]}
end
local function end_marks(name, marks)
  for _, mark in ipairs(marks) do redis.call('HDEL', kExclusiveKey, mark[1]) end
  redis.call('UNLINK', kUnitLeasePrefix .. name)
end
local function end_definitions(name, state) end_marks(name, state[1]) end
local function undo_definitions(name, state)
  for _, mark in ipairs(state[1]) do
    if mark[2] ~= '' then redis.call('HSET', kVersionsKey, mark[1], mark[2]) end
  end
  end_marks(name, state[1])
end
