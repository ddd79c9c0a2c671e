#include "executor/tables/read_scripts.h"

namespace redquel::executor {

namespace {

/// Row keys from members; the rules are those of sql/catalog/key_segments.cc. nil where a key is made by hashing.
constexpr std::string_view kRowKeys = R"lua(
local function hex(c) return string.format('%%%02X', string.byte(c)) end
local reserved = {id = true, rowid = true, zset = true, indices = true, uniques = true}
local function segment(value)
  if #value > 512 then return nil end
  if value == '' then return '%' end
  if reserved[value] then return hex(value:sub(1, 1)) .. value:sub(2) end
  return (value:gsub('[%z\1-\32\127%%:{}%*%?%[%]\\]', hex))
end
local function row_key(prefix, escape, member)
  if escape == '1' then
    local name = segment(member)
    return name and (prefix .. name)
  end
  if #member > 512 then return nil end
  return prefix .. member
end
)lua";

constexpr std::string_view kRowsOfSets = R"lua(
local max_members, max_rows = tonumber(ARGV[1]), tonumber(ARGV[2])
local prefix, escape, field_count = ARGV[3], ARGV[4], tonumber(ARGV[5])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[5 + i] end
local kChunk = 4000

local stack, next_key, work = {}, 0, 0
local function leaves(node) return node.key and 1 or node.leaves end
for p = 6 + field_count, #ARGV do
  local op = ARGV[p]:sub(1, 1)
  if op == 's' then
    next_key = next_key + 1
    stack[#stack + 1] = {key = KEYS[next_key], size = redis.call('SCARD', KEYS[next_key])}
  else
    local n = tonumber(ARGV[p]:sub(2))
    local node = {op = op, size = nil, leaves = 0}
    for j = 1, n do
      local operand = stack[#stack - n + j]
      node[j] = operand
      node.leaves = node.leaves + leaves(operand)
      if op == 'u' then node.size = (node.size or 0) + operand.size
      elseif op == 'i' then node.size = math.min(node.size or operand.size, operand.size)
      elseif j == 1 then node.size = operand.size end
    end
    for _ = 1, n do stack[#stack] = nil end
    if op ~= 'u' then work = work + node.size * node.leaves end
    stack[#stack + 1] = node
  end
end
local root = stack[1]
if root.size > max_members or work > 40 * max_members then return false end

local function contains(node, ids)
  if node.key then
    local flags = {}
    for from = 1, #ids, kChunk do
      local part = redis.call('SMISMEMBER', node.key, unpack(ids, from, math.min(from + kChunk - 1, #ids)))
      for i = 1, #part do flags[from + i - 1] = part[i] end
    end
    return flags
  end
  local flags = contains(node[1], ids)
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

local members
local function keys_of(node)
  local keys, rest = {}, {}
  for j = 1, #node do
    if node[j].key then keys[#keys + 1] = node[j].key else rest[#rest + 1] = node[j] end
  end
  return keys, rest
end
function members(node)
  if node.key then return redis.call('SMEMBERS', node.key) end
  local keys, rest = keys_of(node)
  if node.op == 'i' then
    local ids
    if #keys > 0 then
      ids = redis.call('SINTER', unpack(keys, 1, math.min(#keys, kChunk)))
      for j = kChunk + 1, #keys do ids = keep(ids, {key = keys[j]}, 1) end
    else
      table.sort(rest, function(a, b) return a.size < b.size end)
      ids = members(table.remove(rest, 1))
    end
    for _, operand in ipairs(rest) do ids = keep(ids, operand, 1) end
    return ids
  end
  if node.op == 'u' then
    if #rest == 0 and #keys <= kChunk then return redis.call('SUNION', unpack(keys)) end
    local seen, ids = {}, {}
    for j = 1, #node do
      for _, id in ipairs(members(node[j])) do
        if not seen[id] then seen[id] = true; ids[#ids + 1] = id end
      end
    end
    return ids
  end
  if #rest == 0 and #keys <= kChunk then return redis.call('SDIFF', unpack(keys)) end
  local ids = members(node[1])
  for j = 2, #node do ids = keep(ids, node[j], 0) end
  return ids
end

if root.key and escape == '0' and field_count > 0 and root.size <= max_rows then
  local words = {'SORT_RO', root.key, 'BY', 'nosort', 'GET', '#'}
  for i = 1, field_count do
    words[#words + 1] = 'GET'
    words[#words + 1] = prefix .. '*->' .. fields[i]
  end
  return {root.size, redis.call(unpack(words)), {}}
end

local ids = members(root)
local rows, rest, width = {}, {}, 1 + field_count
for i = 1, #ids do
  local key = i <= max_rows and row_key(prefix, escape, ids[i])
  if key then
    local at = #rows
    rows[at + 1] = ids[i]
    if field_count > 0 then
      local values = redis.call('HMGET', key, unpack(fields))
      for j = 1, field_count do rows[at + 1 + j] = values[j] end
    end
  else
    rest[#rest + 1] = ids[i]
  end
end
return {#ids, rows, rest}
)lua";

constexpr std::string_view kRangeRows = R"lua(
local low, high, by, descending, offset, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local holds_value, prefix, escape, field_count = ARGV[7], ARGV[8], ARGV[9], tonumber(ARGV[10])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[10 + i] end
local words = {'ZRANGE', KEYS[1], low, high, by}
if descending == '1' then
  words[3], words[4] = high, low
  words[6] = 'REV'
end
words[#words + 1] = 'LIMIT'
words[#words + 1] = offset
words[#words + 1] = count
local scored = by == 'BYSCORE'
if scored then words[#words + 1] = 'WITHSCORES' end
local found = redis.call(unpack(words))
local step, out, keys = scored and 2 or 1, {}, {}
for i = 1, #found, step do
  local member = found[i]
  if holds_value == '1' then member = member:match('[^%z]*$') end
  local key = row_key(prefix, escape, member)
  if not key then keys = nil break end
  keys[#keys + 1] = key
end
if not keys then
  out[1] = false
  for i = 1, #found, step do
    out[#out + 1] = found[i]
    out[#out + 1] = scored and found[i + 1] or ''
  end
  return out
end
local n = 0
for i = 1, #found, step do
  out[n + 1], out[n + 2] = found[i], scored and found[i + 1] or ''
  local values = redis.call('HMGET', keys[(i - 1) / step + 1], unpack(fields))
  for j = 1, field_count do out[n + 2 + j] = values[j] end
  n = n + 2 + field_count
end
return out
)lua";

constexpr std::string_view kUniqueRows = R"lua(
local prefix, escape, field_count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[3 + i] end
local out, n = {}, 0
for p = 4 + field_count, #ARGV do
  local member = redis.call('HGET', KEYS[1], ARGV[p])
  if member then
    local key = row_key(prefix, escape, member)
    if not key then return false end
    out[n + 1] = member
    local values = redis.call('HMGET', key, unpack(fields))
    for j = 1, field_count do out[n + 1 + j] = values[j] end
    n = n + 1 + field_count
  end
end
return out
)lua";

constexpr std::string_view kGroupCounts = R"lua(
if redis.call('SCARD', KEYS[1]) > tonumber(ARGV[1]) then return false end
local out = {false, KEYS[2] == '' and 0 or redis.call('SCARD', KEYS[2])}
local n = 2
for _, value in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local name = segment(value)
  if not name then return false end
  out[n + 1] = value
  out[n + 2] = ARGV[2] == '1' and redis.call('SCARD', KEYS[1] .. ':' .. name) or 1
  n = n + 2
end
return out
)lua";

std::string with_row_keys(std::string_view text) { return std::string(kRowKeys).append(text); }

void append_rows(CommandBatch& batch, const RowArguments& rows) {
  batch.arg(rows.prefix).arg(rows.escape ? "1" : "0").arg(rows.fields->size());
  for (const std::string& field : *rows.fields) batch.arg(field);
}

}  // namespace

const Script& ReadScripts::rows_of_sets() {
  static const Script kScript("rows_of_sets", with_row_keys(kRowsOfSets), Script::Access::read_only);
  return kScript;
}
const Script& ReadScripts::range_rows() {
  static const Script kScript("range_rows", with_row_keys(kRangeRows), Script::Access::read_only);
  return kScript;
}
const Script& ReadScripts::unique_rows() {
  static const Script kScript("unique_rows", with_row_keys(kUniqueRows), Script::Access::read_only);
  return kScript;
}
const Script& ReadScripts::group_counts() {
  static const Script kScript("group_counts", with_row_keys(kGroupCounts), Script::Access::read_only);
  return kScript;
}

RowArguments row_arguments(const RowReader& reader) {
  bool composite = reader.table().primary_key.size() > 1;
  return {reader.table().prefix + ":", !composite && !reader.keys().sort_get_is_safe(), &reader.fields()};
}

void append_rows_of_sets(CommandBatch& batch, const SetProgram& program, const RowArguments& rows, std::size_t max_members,
                         std::size_t max_rows) {
  std::size_t arguments = 5 + rows.fields->size() + program.tokens.size();
  ReadScripts::rows_of_sets().begin_call(batch, program.keys.size(), arguments);
  for (const std::string& key : program.keys) batch.arg(key);
  batch.arg(max_members).arg(max_rows);
  append_rows(batch, rows);
  for (const std::string& token : program.tokens) batch.arg(token);
}

void append_range_rows(CommandBatch& batch, std::string_view key, const ZsetRange& range, bool members_hold_value,
                       const RowArguments& rows) {
  ReadScripts::range_rows().begin_call(batch, 1, 10 + rows.fields->size());
  batch.arg(key).arg(range.low).arg(range.high).arg(range.by == ZsetRange::By::kScore ? "BYSCORE" : "BYLEX");
  batch.arg(range.descending ? "1" : "0").arg(range.offset).arg(range.count).arg(members_hold_value ? "1" : "0");
  append_rows(batch, rows);
}

void append_unique_rows(CommandBatch& batch, std::string_view uniques, std::span<const std::string> values, const RowArguments& rows) {
  ReadScripts::unique_rows().begin_call(batch, 1, 3 + rows.fields->size() + values.size());
  batch.arg(uniques);
  append_rows(batch, rows);
  for (const std::string& value : values) batch.arg(value);
}

void append_group_counts(CommandBatch& batch, std::string_view values, std::string_view null_set, std::size_t max_values, bool counts) {
  ReadScripts::group_counts().begin_call(batch, 2, 2);
  batch.arg(values).arg(null_set).arg(max_values).arg(counts ? "1" : "0");
}

}  // namespace redquel::executor
