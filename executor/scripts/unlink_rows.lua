-- Deletes rows and their members of the zset, and gives the next members, while the entry of their removal is there.
-- KEYS: the zset; rows.
-- ARGV: the entry; how many members; members to delete.
-- Replies: the next members; -1 if another process has finished the removal.
-- Changes: the rows, the zset.
-- Holds Redis: two commands a row, at most 1,000.
if redis.call('HEXISTS', kRemovalsKey, ARGV[1]) == 0 then return -1 end
local gone = {}
for i = 2, #KEYS do
  if redis.call('TYPE', KEYS[i]).ok == 'hash' then gone[#gone + 1] = KEYS[i] end
end
if #gone > 0 then redis.call('UNLINK', unpack(gone)) end  -- bounded: what the last call gave
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then return {} end
if #ARGV > 2 then redis.call('ZREM', KEYS[1], unpack(ARGV, 3)) end  -- bounded: what the last call gave
return redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1)
