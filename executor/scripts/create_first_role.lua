-- Makes role postgres and the mock nonce, unless there are roles.
-- KEYS: redquel:roles, redquel:mock_nonce, redquel:version.
-- ARGV: field of the role; the role; a mock nonce; the new version.
-- Replies: 1 if it made the role, 0 if there are roles.
-- Changes: the keys above.
-- Holds Redis: four commands.
local roles, nonce, version = KEYS[1], KEYS[2], KEYS[3]
redis.call('SETNX', nonce, ARGV[3])
if redis.call('EXISTS', roles) == 1 then return 0 end
redis.call('HSET', roles, ARGV[1], ARGV[2], 'version', ARGV[4])
redis.call('SET', version, ARGV[4])
return 1
