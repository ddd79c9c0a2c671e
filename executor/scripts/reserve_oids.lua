-- Takes oids out of the catalog's counter.
-- KEYS: redquel:catalog.
-- ARGV: the first oid of users; how many.
-- Replies: the first one; 0 if the counter holds no number of 32 bits.
-- Changes: the field next_oid.
-- Holds Redis: two commands.
local text = redis.call('HGET', KEYS[1], 'next_oid') or ARGV[1]
if #text > 10 or not string.find(text, '^%d+$') then return 0 end
local first = math.max(tonumber(text), tonumber(ARGV[1]))
if first + ARGV[2] >= 2 ^ 32 then return 0 end
redis.call('HSET', KEYS[1], 'next_oid', string.format('%d', first + ARGV[2]))
return first
