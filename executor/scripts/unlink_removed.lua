-- Deletes those of the keys that have the type, while the entry of their removal is there: without it the names may belong to a new index.
-- KEYS: keys.
-- ARGV: the entry; the type.
-- Replies: how many; -1 if another process has finished the removal.
-- Changes: the keys.
-- Holds Redis: two commands a key; the caller bounds the keys.
if redis.call('HEXISTS', kRemovalsKey, ARGV[1]) == 0 then return -1 end
local gone = {}
for i = 1, #KEYS do
  if redis.call('TYPE', KEYS[i]).ok == ARGV[2] then gone[#gone + 1] = KEYS[i] end
end
local count = 0
for i = 1, #gone, 1000 do
  count = count + redis.call('UNLINK', unpack(gone, i, math.min(i + 999, #gone)))  -- bounded: a piece
end
return count
