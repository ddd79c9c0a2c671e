-- Changes roles, if they and the definitions of some databases still have the expected versions.
-- KEYS: redquel:roles, redquel:verifiers, redquel:databases, redquel:version.
-- ARGV: the expected and the new version; the number of the home database; then lists, each with its length in front: logical databases
--   and the versions of their definitions (pairs); fields of roles to set (pairs), fields to remove; verifiers to set (pairs), to remove.
-- Replies: "committed"; "stale" if a version is not as expected.
-- Changes: roles, verifiers, and the version of every database, so that each redquel reads the roles anew.
-- Holds Redis: a command for each entry, two for each database. A script that selects a database leaves its caller's as it was.
local call = redis.call
local roles, verifiers, databases, version = unpack(KEYS)
local p = 4
--#include "executor/scripts/shared/lists.lua"

-- VERIFY
if (call('HGET', roles, 'version') or '') ~= ARGV[1] then return 'stale' end
call('HLEN', verifiers)
local numbers = call('HVALS', databases)
local from, to = list()
for i = from, to, 2 do
  call('SELECT', ARGV[i])
  if (call('GET', version) or '') ~= ARGV[i + 1] then return 'stale' end
end
call('SELECT', ARGV[3])

-- APPLY. Roles are small.
--#include "executor/scripts/shared/first_write.lua"
set(roles) remove(roles)
set(verifiers) remove(verifiers)
call('HSET', roles, 'version', ARGV[2])
call('SET', version, ARGV[2])
for _, number in ipairs(numbers) do
  if string.match(number, '^%d+$') and type(redis.pcall('SELECT', number)) == 'table' then redis.pcall('SET', version, ARGV[2]) end
end
return 'committed'
