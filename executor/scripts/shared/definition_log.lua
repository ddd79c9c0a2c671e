-- The log of definitions tells other processes which definitions a new version has changed. Defines:
--   note_definitions(before, after, fields, prefixes)
--     Version `before` was replaced by `after`: these fields of redquel:catalog were set or removed, and these prefixes were taken,
--     freed, or are to be freed.
-- A log that cannot be written costs other processes a look at all definitions, and stops nothing.
local function note_definitions(before, after, fields, prefixes)
  local number = redis.pcall('HINCRBY', kDefinitionLogKey, '#', 1)
  if before == '' or before == after or type(number) ~= 'number' then return end
  local place = '#' .. number % 64
  local oldest = redis.call('HGET', kDefinitionLogKey, place)
  if oldest then redis.call('HDEL', kDefinitionLogKey, oldest) end
  redis.call('HSET', kDefinitionLogKey, place, before, before, cmsgpack.pack({after, fields, prefixes}))
end
