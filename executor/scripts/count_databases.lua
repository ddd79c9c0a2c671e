-- Counts the logical databases.
-- KEYS: redquel:databases.
-- ARGV: the number of the caller's logical database.
-- Replies: the number of logical databases; how many of them are empty and belong to no database.
-- Changes: nothing.
-- Holds Redis: two commands for each logical database.
local taken = {}
for _, number in ipairs(redis.call('HVALS', KEYS[1])) do taken[number] = true end
local number, free = 0, 0
while true do
  local selected = redis.pcall('SELECT', number)
  if type(selected) == 'table' and selected.err then break end
  if redis.call('DBSIZE') == 0 and not taken[tostring(number)] then free = free + 1 end
  number = number + 1
end
redis.call('SELECT', ARGV[1])
return { number, free }
