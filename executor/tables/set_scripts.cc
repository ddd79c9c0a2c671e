#include "executor/tables/set_scripts.h"

namespace redquel::executor {

namespace {

/// Sets as trees: a leaf is a set or a range of a zset; `size` is what it has at most. Work is done from the smallest operand on.
constexpr std::string_view kSetAlgebra = R"lua(
local kChunk = 4000

local function in_chunks(command, key, ids, take)
  for from = 1, #ids, kChunk do
    local part = redis.call(command, key, unpack(ids, from, math.min(from + kChunk - 1, #ids)))
    for i = 1, #part do take(from + i - 1, part[i]) end
  end
end

local function bound(text)
  local open = text:sub(1, 1) == '('
  return tonumber(open and text:sub(2) or text), open
end
local function is_between(low, high)
  local from, from_open = bound(low)
  local to, to_open = bound(high)
  return function(score)
    if score < from or score > to then return false end
    return not (from_open and score == from) and not (to_open and score == to)
  end
end

local function parse(first, next_key)
  local stack, work, p = {}, 0, first
  while p <= #ARGV do
    local op = ARGV[p]:sub(1, 1)
    if op == 's' then
      next_key = next_key + 1
      stack[#stack + 1] = {key = KEYS[next_key], size = redis.call('SCARD', KEYS[next_key]), leaves = 1}
    elseif op == 'z' then
      next_key = next_key + 1
      local zset, low, high = KEYS[next_key], ARGV[p + 1], ARGV[p + 2]
      stack[#stack + 1] = {zset = zset, low = low, high = high, size = redis.call('ZCOUNT', zset, low, high), leaves = 1}
      p = p + 2
    else
      local n = tonumber(ARGV[p]:sub(2))
      local node = {op = op, size = nil, leaves = 0}
      for j = 1, n do
        local operand = stack[#stack - n + j]
        node[j] = operand
        node.leaves = node.leaves + operand.leaves
        if op == 'u' then node.size = (node.size or 0) + operand.size
        elseif op == 'i' then node.size = math.min(node.size or operand.size, operand.size)
        elseif j == 1 then node.size = operand.size end
      end
      for _ = 1, n do stack[#stack] = nil end
      if op ~= 'u' then work = work + node.size * node.leaves end
      stack[#stack + 1] = node
    end
    p = p + 1
  end
  stack[1].keys = next_key
  return stack[1], work
end

local function contains(node, ids)
  local flags = {}
  if node.key and #ids <= kChunk then
    if #ids == 0 then return flags end
    return redis.call('SMISMEMBER', node.key, unpack(ids))
  end
  if node.key then
    in_chunks('SMISMEMBER', node.key, ids, function(i, flag) flags[i] = flag end)
    return flags
  end
  if node.zset then
    local between = is_between(node.low, node.high)
    in_chunks('ZMSCORE', node.zset, ids, function(i, score) flags[i] = score and between(tonumber(score)) and 1 or 0 end)
    return flags
  end
  flags = contains(node[1], ids)
  for j = 2, #node do
    local others = contains(node[j], ids)
    for i = 1, #ids do
      if node.op == 'u' then if others[i] == 1 then flags[i] = 1 end
      elseif node.op == 'i' then if others[i] == 0 then flags[i] = 0 end
      elseif others[i] == 1 then flags[i] = 0 end
    end
  end
  return flags
end
local function keep(ids, node, wanted)
  if #ids == 0 then return ids end
  local flags, kept = contains(node, ids), {}
  for i = 1, #ids do if flags[i] == wanted then kept[#kept + 1] = ids[i] end end
  return kept
end

-- Sets, some of them united, as intersections of plain sets, where these are few: Redis intersects faster than Lua asks.
local function products_of(node)
  local products, plain = {{}}, true
  for j = 1, #node do
    local choices = node[j].key and {node[j]} or node[j]
    if node[j].zset or (not node[j].key and node[j].op ~= 'u') or #choices * #products > 12 then return nil end
    plain = plain and node[j].key ~= nil
    local longer = {}
    for _, product in ipairs(products) do
      for i = 1, #choices do
        if not choices[i].key then return nil end
        local keys = {unpack(product)}
        keys[#keys + 1] = choices[i].key
        longer[#longer + 1] = keys
      end
    end
    products = longer
  end
  return not plain and products or nil
end

local members
local function intersect(node)
  local keys, plain, rest, smallest = {}, {}, {}, nil
  for j = 1, #node do
    if node[j].key then
      keys[#keys + 1] = node[j].key
      plain[#plain + 1] = node[j]
      if not smallest or node[j].size < smallest then smallest = node[j].size end
    else
      rest[#rest + 1] = node[j]
    end
  end
  table.sort(rest, function(a, b) return a.size < b.size end)
  local ids
  local products = products_of(node)
  if products then
    local seen = {}
    ids = {}
    for _, product in ipairs(products) do
      for _, id in ipairs(redis.call('SINTER', unpack(product))) do
        if not seen[id] then seen[id] = true; ids[#ids + 1] = id end
      end
    end
    return ids
  end
  if smallest and not (rest[1] and rest[1].size < smallest) then
    ids = redis.call('SINTER', unpack(keys, 1, math.min(#keys, kChunk)))
    for j = kChunk + 1, #keys do ids = keep(ids, plain[j], 1) end
  else
    ids = members(table.remove(rest, 1))
    for _, operand in ipairs(plain) do ids = keep(ids, operand, 1) end
  end
  for _, operand in ipairs(rest) do ids = keep(ids, operand, 1) end
  return ids
end
function members(node)
  if node.key then return redis.call('SMEMBERS', node.key) end
  if node.zset then return redis.call('ZRANGE', node.zset, node.low, node.high, 'BYSCORE') end
  if node.op == 'i' then return intersect(node) end
  local keys = {}
  for j = 1, #node do keys[#keys + 1] = node[j].key end
  if #keys == #node and #keys <= kChunk then return redis.call(node.op == 'u' and 'SUNION' or 'SDIFF', unpack(keys)) end
  if node.op == 'u' then
    local seen, ids = {}, {}
    for j = 1, #node do
      for _, id in ipairs(members(node[j])) do
        if not seen[id] then seen[id] = true; ids[#ids + 1] = id end
      end
    end
    return ids
  end
  local ids = members(node[1])
  for j = 2, #node do ids = keep(ids, node[j], 0) end
  return ids
end
)lua";

constexpr std::string_view kRowsOfSets = R"lua(
local max_members, max_rows, few_rows = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local prefix, escape, field_count = ARGV[4], ARGV[5], tonumber(ARGV[6])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[6 + i] end
local root, work = parse(7 + field_count, 0)
if max_rows < 0 and (root.key or root.zset) then return {root.size} end
if root.size > max_members or work > 40 * max_members then return false end

-- Elements and fields; nil: the user has no right to SORT.
local function sorted(key)
  local words = {'SORT_RO', key, 'BY', 'nosort', 'GET', '#'}
  for i = 1, field_count do
    words[#words + 1] = 'GET'
    words[#words + 1] = prefix .. '*->' .. fields[i]
  end
  local found = redis.pcall(unpack(words))
  return not found.err and found or nil
end
if root.key and escape == '0' and field_count > 0 and root.size <= max_rows then
  local found = sorted(root.key)
  if found then return {root.size, found, {}} end
end

local rows, rest, at = {}, {}, 0
local function are_plain(node)
  for j = 1, #node do if not node[j].key then return false end end
  return true
end
if root.op == 'u' and are_plain(root) and escape == '0' and field_count > 0 and root.size <= max_rows then
  local seen, found = {}, nil
  for j = 1, #root do
    found = sorted(root[j].key)
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
-- Many rows are read faster by HMGETs of their own; the counter tells whether they are still those of this moment.
if few_rows < #ids and #ids <= max_rows and #KEYS > 0 then return {#ids, {}, ids, redis.call('GET', KEYS[#KEYS]) or ''} end
for i = 1, #ids do
  local key = i <= max_rows and row_key(prefix, escape, ids[i])
  if key then
    rows[at + 1] = ids[i]
    if field_count > 0 then
      local values = redis.call('HMGET', key, unpack(fields))
      for j = 1, field_count do rows[at + 1 + j] = values[j] end
    end
    at = at + 1 + field_count
  else
    rest[#rest + 1] = ids[i]
  end
end
return {#ids, rows, rest}
)lua";

/// Smaller places come first: scores, negated for a descending order.
constexpr std::string_view kFirstRowsOfSets = R"lua(
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
  local ids, offset, last = {}, 0, nil
  -- As many as should do, then little by little: each element costs as much again to be asked for.
  local count = math.floor(math.min(math.max(expected, 32), kChunk))
  local more = math.max(math.floor(count / 5), 32)
  local with_scores = scored and ties
  while offset < max_members do
    local found
    if unbounded and not with_scores then
      if descending then found = redis.call('ZRANGE', KEYS[1], offset, offset + count - 1, 'REV')
      else found = redis.call('ZRANGE', KEYS[1], offset, offset + count - 1) end
    else
      local words = {'ZRANGE', KEYS[1], descending and high or low, descending and low or high, by}
      if descending then words[6] = 'REV' end
      words[#words + 1] = 'LIMIT'
      words[#words + 1] = offset
      words[#words + 1] = count
      if with_scores then words[#words + 1] = 'WITHSCORES' end
      found = redis.call(unpack(words))
    end
    local met, places, step = found, found, with_scores and 2 or 1
    if holds_value or with_scores then
      met, places = {}, {}
      for i = 1, #found, step do
        local n = #met + 1
        if holds_value then
          local value, member = found[i]:match('^(.*)%z([^%z]*)$')
          met[n], places[n] = member, value
        else
          met[n], places[n] = found[i], found[i + 1]
        end
      end
    end
    local flags = contains(root, met)
    for i = 1, #met do
      if #ids >= missing and not (ties and places[i] == last) then return ids end
      if flags[i] == 1 then
        ids[#ids + 1] = met[i]
        last = places[i]
      end
    end
    if #met < count or (#ids >= missing and not ties) then return ids end
    offset = offset + count
    count = more
    more = math.min(more * 2, kChunk)
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
  local values = redis.call('HMGET', key, unpack(fields))
  for j = 1, field_count do rows[at + 1 + j] = values[j] end
  at = at + 1 + field_count
end
return {#ids, rows}
)lua";

std::string with_algebra(std::string_view text) { return with_row_keys(std::string(kSetAlgebra).append(text)); }

}  // namespace

const Script& SetScripts::rows_of_sets() {
  static const Script kScript("rows_of_sets", with_algebra(kRowsOfSets), Script::Access::read_only);
  return kScript;
}
const Script& SetScripts::first_rows_of_sets() {
  static const Script kScript("first_rows_of_sets", with_algebra(kFirstRowsOfSets), Script::Access::read_only);
  return kScript;
}

void append_rows_of_sets(CommandBatch& batch, const SetProgram& program, const RowArguments& rows, std::size_t max_members,
                         std::size_t max_rows, const ApartRows& apart) {
  const std::size_t arguments = 6 + rows.fields->size() + program.tokens.size();
  SetScripts::rows_of_sets().begin_call(batch, program.keys.size() + program.scores.size() + (apart.counter.empty() ? 0 : 1), arguments);
  for (const std::string& key : program.keys) batch.arg(key);
  for (const std::string& key : program.scores) batch.arg(key);
  if (!apart.counter.empty()) batch.arg(apart.counter);
  batch.arg(max_members).arg(max_rows).arg(apart.counter.empty() ? max_rows : apart.more_than);
  append_row_arguments(batch, rows);
  for (const std::string& token : program.tokens) batch.arg(token);
}

void append_count_of_sets(CommandBatch& batch, const SetProgram& program, std::size_t max_members) {
  SetScripts::rows_of_sets().begin_call(batch, program.keys.size(), 6 + program.tokens.size());
  for (const std::string& key : program.keys) batch.arg(key);
  batch.arg(max_members).arg("-1").arg("0").arg("").arg("0").arg("0");
  for (const std::string& token : program.tokens) batch.arg(token);
}

void append_first_rows_of_sets(CommandBatch& batch, const SetProgram& program, const FirstRows& first, const RowArguments& rows,
                               std::size_t max_members, std::size_t max_rows) {
  const std::size_t arguments = 13 + rows.fields->size() + program.tokens.size();
  SetScripts::first_rows_of_sets().begin_call(batch, 2 + program.keys.size(), arguments);
  batch.arg(first.key).arg(first.null_set);
  for (const std::string& key : program.keys) batch.arg(key);
  const char* nulls = first.null_set.empty() ? "" : first.nulls_first ? "first" : "last";
  batch.arg(first.range.low).arg(first.range.high).arg(first.range.by == ZsetRange::By::kScore ? "BYSCORE" : "BYLEX");
  batch.arg(first.range.descending ? "1" : "0").arg(first.wanted).arg(first.ties ? "1" : "0");
  batch.arg(first.members_hold_value ? "1" : "0").arg(nulls).arg(max_members).arg(max_rows);
  append_row_arguments(batch, rows);
  for (const std::string& token : program.tokens) batch.arg(token);
}

}  // namespace redquel::executor
