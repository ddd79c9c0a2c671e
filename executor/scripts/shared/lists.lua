-- Lists among the arguments, each with its length in front. ARGV[p] is the length of the next one.
-- Returns where the next list begins and ends.
local function list()
  local n = tonumber(ARGV[p])
  local from = p + 1
  p = from + n
  return from, p - 1
end
-- Sets the fields of the next list (pairs).
local function set(hash)
  local first, last = list()
  for i = first, last, 2 do call('HSET', hash, ARGV[i], ARGV[i + 1]) end
end
-- Removes the fields of the next list.
local function remove(hash)
  local first, last = list()
  for i = first, last do call('HDEL', hash, ARGV[i]) end
end
