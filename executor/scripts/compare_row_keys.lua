-- Compares the keys of rows with those that a column of theirs would give them.
-- KEYS: rows.
-- ARGV: the key column's field; the beginning of their keys.
-- Replies: 1 if all are equal, else 0.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: one command a row, at most 2,000 rows.
for k = 1, #KEYS do
  local value = redis.call('HGET', KEYS[k], ARGV[1])
  if not value or ARGV[2] .. value ~= KEYS[k] then return 0 end
end
return 1
