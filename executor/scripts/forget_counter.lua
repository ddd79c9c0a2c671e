-- Deletes the counter of a table that is not there, unless its prefix is in use.
-- KEYS: redquel:prefixes; the counter.
-- ARGV: prefix.
-- Replies: 1 if a key was deleted.
-- Changes: the counter.
-- Holds Redis: two commands.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return redis.call('UNLINK', KEYS[2]) end
return 0
