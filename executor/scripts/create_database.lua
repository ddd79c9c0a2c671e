-- Gives a new database the first logical database that is empty.
-- Redis does not report a script's logical database: the script leaves a mark, and the database with the mark is the caller's own.
-- KEYS: redquel:databases.
-- ARGV: name; a random mark.
-- Replies: "created"; "exists"; the number of logical databases if none is empty.
-- Changes: the field of the name.
-- Holds Redis: two commands for each logical database.
local databases, name, mark = KEYS[1], ARGV[1], ARGV[2]
if redis.call('HSETNX', databases, name, mark) == 0 then return 'exists' end
local taken = {}
for _, number in ipairs(redis.call('HVALS', databases)) do taken[number] = true end
local home, free
local number = 0
while not (home and free) do
  local selected = redis.pcall('SELECT', number)
  if type(selected) == 'table' and selected.err then break end
  if redis.call('DBSIZE') == 0 then
    if not free and not taken[tostring(number)] then free = number end
  elseif not home and redis.call('TYPE', databases).ok == 'hash' and redis.call('HGET', databases, name) == mark then
    home = number
  end
  number = number + 1
end
redis.call('SELECT', home)
if not free then
  redis.call('HDEL', databases, name)
  return number
end
redis.call('HSET', databases, name, free)
return 'created'
