-- Writes the few rows of a usual unit, in half the time of write_rows, if nothing is in their way. The encoder has written the commands;
-- what they must find comes first. Functions and tables of its own would cost a script more than such rows.
-- KEYS: none; in a cluster a key of the bucket.
-- ARGV: sections that end with "", or with the number of words that their first word tells. The writer of each in write_encoding_plain.cc
--   has its name:
--     token; owner; expected; locks; new keys; types; increments; counters; changes; emptied.
-- Replies: {"applied"}; {"unclear"}: nothing has changed, and write_rows finds out why.
-- Changes: what the commands say.
-- Holds Redis: at most 16 rows.
local call, unpack, argv = redis.call, unpack, ARGV

-- Section token: key, slot and number of the commit ("": none); the owner of the locks.
local token_key, token_slot, token_number, owner, p = argv[1], argv[2], argv[3], argv[4], 5
local unclear = {'unclear'}
if token_key ~= '' then
  local before = call('HGET', token_key, token_slot)
  if before and tonumber(string.match(before, '%d+')) >= tonumber(token_number) then return unclear end
end

-- VERIFY.
--#include "executor/scripts/shared/plain_expected.lua"

-- Section locks: how often the own lease is among the keys (it counts for more than all the tables), the tables in which the call has no
-- locks. Then table by table: how many fields are the owner's; how many words, the key and the fields, of which the others have no owner.
local leases, last, is_free = argv[p + 1] + 0, p + 2 + argv[p + 2], true
if last > p + 2 then
  local found = call('EXISTS', unpack(argv, p + 3, last))  -- bounded: 16 rows
  if found < leases then return unclear end
  is_free = found == leases
end
p = last + 1
while argv[p] ~= '' do
  local own = argv[p] + 0
  last = p + 1 + argv[p + 1]
  if own > 0 or not is_free then
    local found = call('HMGET', unpack(argv, p + 2, last))  -- bounded: 64 locks
    for i = 1, #found do
      local value = found[i]
      if i > own then
        if value then return unclear end
      elseif not value or string.sub(value, 2) ~= owner then
        return unclear
      end
    end
  end
  p = last + 1
end

--#include "executor/scripts/shared/plain_checks.lua"
local first_increment = p
--#include "executor/scripts/shared/plain_increments.lua"
local last_increment = p - 1

-- APPLY.
-- Section counters: how many, their keys. If one is not a counter, no row has changed.
p = p + 1
last = p + argv[p]
for i = p + 1, last do
  if type(redis.pcall('INCR', argv[i])) == 'table' then return unclear end
end
p = last + 1
for i = first_increment, last_increment, 4 do call('HINCRBY', argv[i], argv[i + 1], argv[i + 2]) end
--#include "executor/scripts/shared/plain_changes.lua"
--#include "executor/scripts/shared/note_commit.lua"
return {'applied'}
