-- Removes a value from the values of an index if its set is gone.
-- KEYS: the set of values; the set of the value's rows.
-- ARGV: the value.
-- Replies: nothing.
-- Changes: the set of values.
-- Holds Redis: two commands.
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SREM', KEYS[1], ARGV[1]) end
