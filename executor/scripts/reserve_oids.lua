-- Takes oids out of the catalog's counter.
-- KEYS: redquel:catalog.
-- ARGV: the first oid of users; how many.
-- Replies: the first one.
-- Changes: the field next_oid.
-- Holds Redis: two commands.
local first = math.max(tonumber(redis.call('HGET', KEYS[1], 'next_oid') or 0), tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'next_oid', string.format('%d', first + ARGV[2]))
return first
