-- Removes the locks of a token that has ended.
-- KEYS: the locks of a table, or the advisory ones.
-- ARGV: token; fields.
-- Replies: nothing.
-- Changes: the fields.
-- Holds Redis: two commands for each field, at most 500.
for i = 2, #ARGV do
  local value, left = redis.call('HGET', KEYS[1], ARGV[i]), {}
  for mode, holder in string.gmatch(value or '', kLockPattern) do
    if holder ~= ARGV[1] then left[#left + 1] = mode .. holder end
  end
  if value and #left == 0 then redis.call('HDEL', KEYS[1], ARGV[i])
  elseif value then redis.call('HSET', KEYS[1], ARGV[i], table.concat(left, ' ')) end
end
