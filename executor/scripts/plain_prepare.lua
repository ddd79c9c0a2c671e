-- Prepares the part of a commit over several buckets that plain_write.lua could do in one, in a third of the time of prepare_commit.lua.
-- KEYS: a key of the bucket.
-- ARGV: name of the commit; sections as in plain_write.lua; the writer of each in write_encoding_plain.cc has its name:
--     owner; expected; prepared locks; new keys; types; increments; counters; old rows; redo.
-- Replies: {"prepared"}; {"aborted"}: a tombstone is there; {"unclear"}: nothing has changed, and prepare_commit finds out why.
-- Changes: locks, the record.
-- Holds Redis: at most 16 rows.
--#include "executor/scripts/shared/bucket.lua"
local call, unpack, argv = redis.call, unpack, ARGV
local name, owner, p = argv[1], argv[2], 3
local unclear = {'unclear'}
local is_buried = call('ZSCORE', kTombstonesKey, name)
if is_buried or call('HEXISTS', kPreparedKey, name) == 1 or call('ZSCORE', kAppliedKey, name) then
  call('HINCRBY', kCommitNumbersKey, 'touched', 1)
  return {is_buried and 'aborted' or 'prepared'}
end
--#include "executor/scripts/shared/plain_expected.lua"

-- Section prepared locks: leases and tables as in the locks of plain_write.lua. Then table by table: how many fields are the owner's; the
-- modes of the others; how many words, the key and the fields: that of the table, the owner's, the others. They become the commit's.
local leases, last, is_free = argv[p + 1] + 0, p + 2 + argv[p + 2], true
if last > p + 2 then
  local found = call('EXISTS', unpack(argv, p + 3, last))  -- bounded: 16 rows
  if found < leases then return unclear end
  is_free = found == leases
end
p = last + 1
local locks, taken = {}, {}
while argv[p] ~= '' do
  local own, modes, key, found = argv[p] + 0, argv[p + 1], argv[p + 3], {}
  last = p + 2 + argv[p + 2]
  if own > 0 or not is_free then found = call('HMGET', unpack(argv, p + 3, last)) end  -- bounded: 64 locks
  if found[1] then return unclear end
  local strengths, fields, before, words = {}, {unpack(argv, p + 5, last)}, {}, {key}  -- bounded: 64 locks
  for i = 1, #fields do
    local value, strength, others = found[i + 1], nil, ''
    if i > own then
      if value then return unclear end
      strength, before[i] = string.sub(modes, i - own, i - own), ''
    else
      if value and string.sub(value, 2) == owner then
        strength = string.sub(value, 1, 1)
      else
        for mode, token in string.gmatch(value or '', kLockPattern) do
          if token == owner then strength = mode else others = others .. mode .. token .. ' ' end
        end
        if not strength then return unclear end
      end
      before[i] = strength
    end
    strengths[i] = strength
    words[2 * i], words[2 * i + 1] = fields[i], others .. strength .. name
  end
  locks[#locks + 1], taken[#taken + 1] = {key, strengths, fields, before}, words
  p = last + 1
end

--#include "executor/scripts/shared/plain_checks.lua"
--#include "executor/scripts/shared/plain_increments.lua"
-- Section counters: how many, their keys.
p = p + 1
last = p + argv[p]
for i, count in ipairs(last > p and call('MGET', unpack(argv, p + 1, last)) or {}) do  -- bounded: the tables of 16 rows
  count = count or call('GET', argv[p + i])  -- (an error if it is of another type)
  if count and not (#count < 18 and string.find(count, '^%d+$')) then return unclear end
end
p = last + 1
-- Section old rows: how many, their keys. Rows that expire stay until the commit is applied: prepare_commit does that.
last = p + argv[p]
for i = p + 1, last do
  if call('PTTL', argv[i]) >= 0 then return unclear end
end

-- Section redo: counters, changes and emptied sets of plain_write.lua, packed.
call('SET', kProcessPrefix .. string.sub(name, 1, 16), 'prepared')
for _, words in ipairs(taken) do call('HSET', unpack(words)) end  -- bounded: 64 locks
call('HSET', kPreparedKey, name, cmsgpack.pack({argv[last + 1], false, locks, {}, false, {}, owner}))
return {'prepared'}
