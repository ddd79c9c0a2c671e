-- Gives the first rows, in the order of a zset, of those that set algebra selects. Smaller places come first: scores, negated for a
-- descending order.
-- KEYS: the zset; the set of rows with NULL (the zset again: none); then the keys of the algebra.
-- ARGV: low; high; BYSCORE or BYLEX; 1 if descending; how many rows; 1 if ties of the last one come too; 1 if members hold a value; where
--   NULLs come (first, last, ""); most members of a result; most rows; then prefix, escape, fields (shared/row_keys.lua); then the
--   algebra.
-- Replies: {count, flat rows}; nil if that would take too long or a key is not known to Lua.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: a look at so many members as the caller allows (limits.set_members), 40 times as many for the algebra.
--#include "executor/scripts/shared/row_keys.lua"
--#include "executor/scripts/shared/set_algebra.lua"
local low, high, by, descending = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local wanted, ties, holds_value, nulls = tonumber(ARGV[5]), ARGV[6] == '1', ARGV[7] == '1', ARGV[8]
local max_members, max_rows = tonumber(ARGV[9]), tonumber(ARGV[10])
local prefix, escape, field_count = ARGV[11], ARGV[12], tonumber(ARGV[13])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[13 + i] end
local scored = by == 'BYSCORE'
local root, work = parse(14 + field_count, 2)
local total = redis.call(scored and 'ZCOUNT' or 'ZLEXCOUNT', KEYS[1], low, high)
local unbounded = (low == '-inf' and high == '+inf') or (low == '-' and high == '+')

local function walk(missing)
  local expected = total * missing / math.max(root.size, 1)
  local ids, offset, last = {}, 0, nil  -- the place of the last row that was met
  -- Scores are asked for where a tie must be known alone: ZRANGE with scores costs six times as much.
  local function place_of(member) return redis.call('ZSCORE', KEYS[1], member) end
  -- Reads the expected number of elements, then a few at a time: each element costs another command.
  local count = math.floor(math.min(math.max(expected, 32), chunk_size))
  local more = math.max(math.floor(count / 5), 32)
  while offset < max_members do
    local found
    if unbounded then
      if descending then found = redis.call('ZRANGE', KEYS[1], offset, offset + count - 1, 'REV')
      else found = redis.call('ZRANGE', KEYS[1], offset, offset + count - 1) end
    else
      local words = {'ZRANGE', KEYS[1], descending and high or low, descending and low or high, by}
      if descending then words[6] = 'REV' end
      words[#words + 1] = 'LIMIT'
      words[#words + 1] = offset
      words[#words + 1] = count
      found = redis.call(unpack(words))  -- bounded: one command
    end
    local met, places = found, found
    if holds_value then
      met, places = {}, {}
      for i = 1, #found do
        local value, member = found[i]:match('^(.*)%z([^%z]*)$')
        met[i], places[i] = member, value
      end
    end
    local flags = contains(root, met)
    for i = 1, #met do
      if #ids >= missing then
        if not ties then return ids end
        last = last or place_of(ids[#ids])
        if (scored and place_of(met[i]) or places[i]) ~= last then return ids end
      end
      if flags[i] == 1 then
        ids[#ids + 1] = met[i]
        last = not scored and places[i]
      end
    end
    if #met < count or (#ids >= missing and not ties) then return ids end
    offset = offset + count
    count = more
    more = math.min(more * 2, chunk_size)
  end
  return nil
end

local function compare(missing)
  local ids, between = members(root), is_between(low, high)
  local places, best, n = {}, {}, 0
  in_chunks('ZMSCORE', KEYS[1], ids, function(i, score)
    local place = score and tonumber(score)
    if not place or not between(place) then return end
    if descending then place = -place end
    places[i] = place
    if n == missing and place >= best[n] then return end
    local at = n < missing and n + 1 or n
    while at > 1 and best[at - 1] > place do
      best[at] = best[at - 1]
      at = at - 1
    end
    best[at] = place
    if n < missing then n = n + 1 end
  end)
  local worst, kept, last = best[n], {}, {}
  if n == 0 then return kept end
  for i = 1, #ids do
    if places[i] and places[i] < worst then kept[#kept + 1] = ids[i]
    elseif places[i] == worst then last[#last + 1] = ids[i] end
  end
  for i = 1, ties and #last or math.min(#last, missing - #kept) do kept[#kept + 1] = last[i] end
  return kept
end

local function in_order(missing)
  if missing <= 0 then return {} end
  local small = scored and root.size <= max_members and work <= 40 * max_members
  local expected = total * missing / math.max(root.size, 1)
  local ids
  if not small or expected * root.leaves < 2 * root.size then ids = walk(missing) end
  if not ids and small then ids = compare(missing) end
  return ids
end

local without = {}
if nulls ~= '' then
  local count = redis.call('SCARD', KEYS[2])
  if count > 0 then
    if math.min(count, root.size) > max_members then return false end
    without = members({op = 'i', size = 0, leaves = 0, root, {key = KEYS[2], size = count, leaves = 1}})
  end
end
local ids
if nulls == 'first' then
  ids = in_order(wanted - #without)
  if not ids then return false end
  for i = 1, ties and #without or math.min(#without, wanted) do ids[#ids + 1] = without[i] end
else
  ids = in_order(wanted)
  if not ids then return false end
  local missing = wanted - #ids
  if missing > 0 then
    for i = 1, ties and #without or math.min(#without, missing) do ids[#ids + 1] = without[i] end
  end
end
if #ids > max_rows then return false end

local rows, at = {}, 0
for i = 1, #ids do
  local key = row_key(prefix, escape, ids[i])
  if not key then return false end
  rows[at + 1] = ids[i]
  local values = redis.call('HMGET', key, unpack(fields))  -- bounded: the columns of a table
  for j = 1, field_count do rows[at + 1 + j] = values[j] end
  at = at + 1 + field_count
end
return {#ids, rows}
