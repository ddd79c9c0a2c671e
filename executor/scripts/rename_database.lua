-- Renames a database.
-- KEYS: redquel:databases.
-- ARGV: name; new name.
-- Replies: "renamed"; "missing"; "exists".
-- Changes: the two fields.
-- Holds Redis: three commands.
local databases, name, new_name = KEYS[1], ARGV[1], ARGV[2]
local number = redis.call('HGET', databases, name)
if not number then return 'missing' end
if redis.call('HSETNX', databases, new_name, number) == 0 then return 'exists' end
redis.call('HDEL', databases, name)
return 'renamed'
