-- Gives the rows that set algebra selects.
-- KEYS: the keys of the algebra; zsets whose scores are asked for; the table's counter of changes, or none.
-- ARGV: most members of a result; most rows (-1: the count alone, 0: members and scores); more rows than this are not read here; then
--   prefix, escape, fields (shared/row_keys.lua); then the algebra.
-- Replies: {count, flat rows, members without a row}; {count}; {count, {}, members, scores of each zset…}; {count, {}, members, counter};
--   nil if that would take too long.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: a look at so many members as the caller allows (limits.set_members), 40 times as many for the algebra.
--#include "executor/scripts/shared/row_keys.lua"
--#include "executor/scripts/shared/set_algebra.lua"
local max_members, max_rows, few_rows = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local prefix, escape, field_count = ARGV[4], ARGV[5], tonumber(ARGV[6])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[6 + i] end
local root, work = parse(7 + field_count, 0)
if max_rows < 0 and (root.key or root.set or root.zset) then return {root.size} end
if root.size > max_members or work > 40 * max_members then return false end

-- Elements of a set and fields; nil: the user has no right to SORT, or its pattern cannot name the rows (keys of long members are hashed).
local function sorted(leaf)
  local head, tail = leaf.head or '', leaf.tail or ''
  if string.find(tail, '->', 1, true) then return nil end
  local words = {'SORT_RO', leaf.key or leaf.set, 'BY', 'nosort', 'GET', '#'}
  for i = 1, field_count do
    words[#words + 1] = 'GET'
    words[#words + 1] = prefix .. head .. '*' .. tail .. '->' .. fields[i]
  end
  local found = redis.pcall(unpack(words))  -- bounded: the columns of a table
  if found.err then return nil end
  for i = 1, #found, 1 + field_count do
    if leaf.set then found[i] = head .. found[i] .. tail end
    if not row_key(prefix, escape, found[i]) then return nil end
  end
  return found
end
if (root.key or root.set) and escape == '0' and field_count > 0 and root.size <= max_rows then
  local found = sorted(root)
  if found then return {root.size, found, {}} end
end

local rows, rest, at = {}, {}, 0
local function are_plain(node)
  for j = 1, #node do if not node[j].key and not node[j].set then return false end end
  return true
end
if root.op == 'u' and are_plain(root) and escape == '0' and field_count > 0 and root.size <= max_rows then
  local seen, found = {}, nil
  for j = 1, #root do
    found = sorted(root[j])
    if not found then break end
    for i = 1, #found, 1 + field_count do
      if not seen[found[i]] then
        seen[found[i]] = true
        for k = 0, field_count do rows[at + 1 + k] = found[i + k] end
        at = at + 1 + field_count
      end
    end
  end
  if found then return {at / (1 + field_count), rows, {}} end
  rows, at = {}, 0
end

if max_rows < 0 and root.op == 'i' and #root <= chunk_size then
  local keys = {}
  for j = 1, #root do keys[#keys + 1] = root[j].key end
  if #keys == #root then return {redis.call('SINTERCARD', #keys, unpack(keys))} end  -- bounded: a piece
end
local ids = members(root)
if max_rows < 0 then return {#ids} end
if max_rows == 0 then
  local reply = {#ids, {}, ids}
  for k = root.keys + 1, #KEYS do
    local scores = {}
    in_chunks('ZMSCORE', KEYS[k], ids, function(i, score) scores[i] = score end)
    reply[#reply + 1] = scores
  end
  return reply
end
-- Many rows are read faster by separate HMGETs; the counter shows whether they still are those of this moment.
if few_rows < #ids and #ids <= max_rows and #KEYS > 0 then return {#ids, {}, ids, redis.call('GET', KEYS[#KEYS]) or ''} end
for i = 1, #ids do
  local key = i <= max_rows and row_key(prefix, escape, ids[i])
  if key then
    rows[at + 1] = ids[i]
    if field_count > 0 then
      local values = redis.call('HMGET', key, unpack(fields))  -- bounded: the columns of a table
      for j = 1, field_count do rows[at + 1 + j] = values[j] end
    end
    at = at + 1 + field_count
  else
    rest[#rest + 1] = ids[i]
  end
end
return {#ids, rows, rest}
