-- Writes fields of rows. Rows that are gone do not come back.
-- KEYS: rows.
-- ARGV: for each row: number of words; fields and values.
-- Replies: nothing.
-- Changes: the rows.
-- Holds Redis: two commands a row, at most one page of rows.
local p = 1
for k = 1, #KEYS do
  local count = tonumber(ARGV[p])
  -- Bounded: the columns of a table.
  if redis.call('EXISTS', KEYS[k]) == 1 then redis.call('HSET', KEYS[k], unpack(ARGV, p + 1, p + count)) end
  p = p + 1 + count
end
