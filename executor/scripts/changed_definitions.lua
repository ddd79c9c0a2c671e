-- Reads the definitions that have changed since a version, by the log of definitions.
-- KEYS: redquel:version, redquel:catalog, redquel:prefixes, redquel:removals, redquel:format, redquel:definition_log.
-- ARGV: the version that the caller knows; prefixes that it knows to be freed soon.
-- Replies: "all" if the log does not lead from the version to the present one; else the version; fields of redquel:catalog that were set,
--   and next_oid (pairs); prefixes that were taken; all removals (pairs); the format, or nil; fields that were removed;
--   prefixes that were freed.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: a command for each changed definition.
local call = redis.call
local version, catalog, taken, removals, format, log = unpack(KEYS)
local now = call('GET', version) or ''
local fields, prefixes, seen = {'next_oid'}, {}, {fnext_oid = true}
local function note(list, kind, names)
  for _, name in ipairs(names) do
    if not seen[kind .. name] then list[#list + 1] = name end
    seen[kind .. name] = true
  end
end
local at = table.remove(ARGV, 1)
note(prefixes, 'p', ARGV)
for _ = 1, 64 do
  if at == now then break end
  local noted = redis.pcall('HGET', log, at)
  if type(noted) ~= 'string' then return 'all' end
  local is_read, entry = pcall(cmsgpack.unpack, noted)
  if not is_read or type(entry) ~= 'table' then return 'all' end
  at = entry[1]
  note(fields, 'f', entry[2])
  note(prefixes, 'p', entry[3])
end
if at ~= now then return 'all' end
local set, removed, held, freed = {}, {}, {}, {}
for _, field in ipairs(fields) do
  local value = call('HGET', catalog, field)
  if value then
    set[#set + 1] = field
    set[#set + 1] = value
  else
    removed[#removed + 1] = field
  end
end
for _, prefix in ipairs(prefixes) do
  local list = call('HEXISTS', taken, prefix) == 1 and held or freed
  list[#list + 1] = prefix
end
return {now, set, held, call('HGETALL', removals), call('GET', format), removed, freed}
