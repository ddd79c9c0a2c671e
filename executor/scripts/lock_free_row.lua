-- Locks and reads one row that is to be written and that no other transaction has locked, as most rows are: in half the time of
-- lock_rows. If something is in the way, lock_rows finds out what.
-- KEYS: the locks of the table; the row.
-- ARGV: token; the lease of its process; mode; field of the lock; fields of the row.
-- Replies: {"done", "l", {the row's fields}}; {"unclear"}: nothing has changed.
-- Changes: the field of the lock.
-- Holds Redis: four commands.
local call, keys, argv = redis.call, KEYS, ARGV
if call('EXISTS', kExclusiveKey, argv[2], argv[2]) ~= 2 then return {'unclear'} end
local held = call('HMGET', keys[1], 't', argv[4])
if held[1] or held[2] then return {'unclear'} end
local values = call('HMGET', keys[2], unpack(argv, 5))  -- bounded: the columns of a table
if not values[1] then return {'unclear'} end
if type(redis.pcall('HSET', keys[1], argv[4], argv[3] .. argv[1])) == 'table' then return {'unclear'} end
return {'done', 'l', {values}}
