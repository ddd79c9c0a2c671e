-- A change of definitions, whose KEYS and ARGV commit_catalog.lua describes. Defines:
--   catalog_change(KEYS, ARGV)   looks whether all is as expected. Returns "stale" or "busy"; or nil, and a function that makes the change
local function catalog_change(KEYS, ARGV)
  local call = redis.call
  local version, catalog, versions, prefixes, removals, format, roles, verifiers, databases = unpack(KEYS)
  local p = 5
--#include "executor/scripts/shared/lists.lua"
--#include "executor/scripts/shared/definition_log.lua"
--#include "executor/scripts/shared/role_change.lua"

  if (call('GET', version) or '') ~= ARGV[1] then return 'stale' end
  if ARGV[3] ~= '' and (call('HGET', catalog, 'next_oid') or ARGV[3]) ~= ARGV[3] then return 'stale' end
  for i = 2, 5 do call('HLEN', KEYS[i]) end
  local from, to = list()
  local changes_roles = from <= to
  if changes_roles then
    local behind = p
    p = from + 1
    if not verify_roles(ARGV[from]) then return 'stale' end
    p = behind
  end
  from, to = list()
  for i = from, to, 2 do
    if (call('GET', ARGV[i]) or '') ~= ARGV[i + 1] then return 'stale' end
  end

  from, to = list()
  for i = from, to do
    if call('HEXISTS', kExclusiveKey, ARGV[i]) == 1 then return 'busy' end
  end

  return nil, function()
    -- Definitions are small, and DROP makes room.
--#include "executor/scripts/shared/first_write.lua"
    local fields, places = {}, {}
    local function names(step, into)
      local first, last = p + 1, p + tonumber(ARGV[p])
      for i = first, last, step do into[#into + 1] = ARGV[i] end
    end
    names(2, fields)
    set(catalog)
    names(1, fields)
    remove(catalog)
    set(versions) remove(versions)
    names(2, places)
    set(prefixes)
    names(1, places)
    remove(prefixes)
    for i = p + 1, p + tonumber(ARGV[p]), 2 do places[#places + 1] = cjson.decode(ARGV[i + 1]).prefix end
    set(removals) remove(removals)
    from, to = list()
    for i = from, to, 4000 do call('UNLINK', unpack(ARGV, i, math.min(i + 3999, to))) end  -- bounded: a piece
    from, to = list()
    for i = from, to, 2 do
      if call('EXISTS', ARGV[i]) == 1 then call('RENAME', ARGV[i], ARGV[i + 1]) end
    end
    from, to = list()
    for i = from, to do call('INCR', ARGV[i]) end
    from, to = list()
    for i = from, to, 2 do call('SET', ARGV[i], '1', 'PX', ARGV[i + 1]) end
    if changes_roles then apply_roles() end
    call('SET', version, ARGV[2])
    note_definitions(changes_roles and role_change.version or ARGV[1], ARGV[2], fields, places)
    call('SET', format, ARGV[4])
  end
end
