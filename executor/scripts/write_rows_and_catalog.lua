-- Writes rows together with a change of definitions. The rows are verified with their locks, the definitions changed (which verifies
-- them first), the rows written: "follow" is "commit" under versions that have just been replaced, and finds nothing that "precede" has
-- not looked at.
-- KEYS: those of commit_catalog, then those of write_rows.
-- ARGV: numbers of keys and of arguments of commit_catalog; its arguments; those of write_rows.
-- Replies: those of write_rows.
-- Changes: what both change.
-- Holds Redis: as long as both.
local function rows(KEYS, ARGV)
--#include "executor/scripts/write_rows.lua"
end
local function catalog(KEYS, ARGV)
--#include "executor/scripts/commit_catalog.lua"
end
local function slice(list, from, to)
  local part = {}
  for i = from, to do part[#part + 1] = list[i] end
  return part
end
local key_count, argument_count = tonumber(ARGV[1]), tonumber(ARGV[2])
local row_keys, row_arguments = slice(KEYS, key_count + 1, #KEYS), slice(ARGV, argument_count + 3, #ARGV)
row_arguments[1] = 'precede'
local result = rows(row_keys, row_arguments)
if result[1] ~= 'verified' then return result end
if catalog(slice(KEYS, 1, key_count), slice(ARGV, 3, argument_count + 2)) ~= 'committed' then return {'stale', ''} end
row_arguments[1] = 'follow'
return rows(row_keys, row_arguments)
