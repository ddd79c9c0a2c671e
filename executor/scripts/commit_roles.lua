-- Changes roles, if they and the definitions of some databases still have the expected versions.
-- KEYS: redquel:roles, redquel:verifiers, redquel:databases, redquel:version.
-- ARGV: those of role_change.lua.
-- Replies: "committed"; "stale" if a version is not as expected.
-- Changes: roles, verifiers, and the version of every database, so that each redquel reads the roles anew.
-- Holds Redis: a command for each entry, two for each database. A script that selects a database leaves its caller's as it was.
local call = redis.call
local roles, verifiers, databases, version = unpack(KEYS)
local p = 1
--#include "executor/scripts/shared/lists.lua"
--#include "executor/scripts/shared/definition_log.lua"
--#include "executor/scripts/shared/role_change.lua"

-- VERIFY. (In a cluster a change of definitions that is prepared may change roles, too: it holds the field of its home bucket.)
if not verify_roles(ARGV[3]) or redis.call('HEXISTS', kExclusiveKey, '0') == 1 then return 'stale' end

-- APPLY. Roles are small.
--#include "executor/scripts/shared/first_write.lua"
apply_roles()
return 'committed'
