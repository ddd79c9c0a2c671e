-- Changes of roles, in the home database. Needs KEYS as `roles`, `verifiers`, `databases`, `version`, lists.lua and definition_log.lua.
-- ARGV from `p` on: the expected and the new version of roles; the number of the home database; then lists, each with its length in front:
--   logical databases and the versions of their definitions (pairs); fields of roles to set (pairs), fields to remove; verifiers to set
--   (pairs), to remove.
local role_change = {}
-- Returns false if a version is not as expected. `own`: the database that is selected afterwards. Changes nothing.
local function verify_roles(own)
  local expected = ARGV[p]
  role_change.version, role_change.home, role_change.own = ARGV[p + 1], ARGV[p + 2], own
  p = p + 3
  call('SELECT', role_change.home)
  local is_fresh = (call('HGET', roles, 'version') or '') == expected
  call('HLEN', verifiers)
  role_change.numbers = call('HVALS', databases)
  local first, last = list()
  for i = first, last, 2 do
    call('SELECT', ARGV[i])
    if (call('GET', version) or '') ~= ARGV[i + 1] then is_fresh = false end
  end
  role_change.lists = p
  call('SELECT', own)
  return is_fresh
end
-- Applies what verify_roles has found to be possible. The definitions' version moves in every database.
local function apply_roles()
  local function move_version()
    local before = redis.pcall('GET', version)
    redis.pcall('SET', version, role_change.version)
    if type(before) == 'string' then note_definitions(before, role_change.version, {}, {}) end
  end
  p = role_change.lists
  call('SELECT', role_change.home)
  set(roles) remove(roles)
  set(verifiers) remove(verifiers)
  call('HSET', roles, 'version', role_change.version)
  move_version()
  for _, number in ipairs(role_change.numbers) do
    local is_selected = string.match(number, '^%d+$') and type(redis.pcall('SELECT', number)) == 'table'
    if is_selected then move_version() end
  end
  call('SELECT', role_change.own)
end
