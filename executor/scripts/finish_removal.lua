-- Removes the entry of a finished removal, and frees its prefix.
-- KEYS: none.
-- ARGV: the entry; its prefix, or "".
-- Replies: nothing.
-- Changes: redquel:removals, redquel:prefixes.
-- Holds Redis: two commands.
if redis.call('HDEL', kRemovalsKey, ARGV[1]) == 1 and ARGV[2] ~= '' then redis.call('HDEL', kPrefixesKey, ARGV[2]) end
