-- Removes the entry of a finished removal, and frees its prefix.
-- KEYS: redquel:removals, redquel:prefixes.
-- ARGV: the entry; its prefix, or "".
-- Replies: nothing.
-- Changes: the keys above.
-- Holds Redis: two commands.
if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 and ARGV[2] ~= '' then redis.call('HDEL', KEYS[2], ARGV[2]) end
