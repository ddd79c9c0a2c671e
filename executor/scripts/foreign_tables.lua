-- Lists the foreign tables that the catalogs of other logical databases define.
-- KEYS: none.
-- ARGV: number of the caller's own logical database.
-- Replies: flat pairs (number of the database, definition).
-- Changes: nothing.
-- Holds Redis: all definitions of all logical databases are read once.
local found, number = {}, 0
while true do
  local selected = redis.pcall('SELECT', number)
  if selected.err then return found end
  local definitions = number ~= tonumber(ARGV[1]) and redis.pcall('HVALS', kCatalogKey) or {}
  for i = 1, #definitions do
    if string.find(definitions[i], '"mapping"', 1, true) then
      found[#found + 1] = tostring(number)
      found[#found + 1] = definitions[i]
    end
  end
  number = number + 1
end
