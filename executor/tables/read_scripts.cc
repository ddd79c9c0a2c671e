#include "executor/tables/read_scripts.h"

#include "sql/error.h"

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

constexpr std::string_view kRangeRows = R"lua(
local low, high, by, descending, offset, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local holds_value, few, prefix, escape, field_count = ARGV[7], tonumber(ARGV[8]), ARGV[9], ARGV[10], tonumber(ARGV[11])
local fields = {}
for i = 1, field_count do fields[i] = ARGV[11 + i] end
if few >= 0 then
  local size = redis.call('ZCOUNT', KEYS[1], low, high)
  if size > few then
    local function beyond(bound) return bound:sub(1, 1) == '(' and bound:sub(2) or '(' .. bound end
    if descending == '1' then return {redis.call('ZCOUNT', KEYS[1], beyond(high), '+inf'), size} end
    return {redis.call('ZCOUNT', KEYS[1], '-inf', beyond(low)), size}
  end
end
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
if not scored then
  local flat = {}
  for i = 1, #found do flat[2 * i - 1], flat[2 * i] = found[i], '' end
  found = flat
end
if not keys then return {found, false} end
if scored and escape == '0' and holds_value ~= '1' and #keys > 3 and field_count > 0 then
  local first = redis.call(descending == '1' and 'ZREVRANK' or 'ZRANK', KEYS[1], found[1])
  local sort = {'SORT_RO', KEYS[1], 'BY', 'nosort', 'LIMIT', first, #keys}
  if descending == '1' then sort[#sort + 1] = 'DESC' end
  for i = 1, field_count do
    sort[#sort + 1] = 'GET'
    sort[#sort + 1] = prefix .. '*->' .. fields[i]
  end
  local rows = redis.pcall(unpack(sort))
  if not rows.err then return {found, rows} end  -- a user without the right to SORT reads row by row
end
for i = 1, #keys do
  local values = redis.call('HMGET', keys[i], unpack(fields))
  local n = (i - 1) * field_count
  for j = 1, field_count do out[n + j] = values[j] end
end
return {found, out}
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
local values = redis.call('SCARD', KEYS[1])
if values > tonumber(ARGV[1]) then return false end
local among, smallest = {}, nil
for i = 3, #KEYS do
  among[#among + 1] = KEYS[i]
  local size = redis.call('SCARD', KEYS[i])
  if not smallest or size < smallest then smallest = size end
end
if smallest and smallest * values > tonumber(ARGV[3]) then return false end
local function count(key)
  if #among == 0 then return redis.call('SCARD', key) end
  return redis.call('SINTERCARD', #among + 1, key, unpack(among))
end
local out = {false, KEYS[2] == '' and 0 or count(KEYS[2])}
local n = 2
for _, value in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local name = segment(value)
  if not name then return false end
  out[n + 1] = value
  out[n + 2] = ARGV[2] == '1' and count(KEYS[1] .. ':' .. name) or 1
  n = n + 2
end
return out
)lua";

}  // namespace

std::string with_row_keys(std::string_view text) { return std::string(kRowKeys).append(text); }

void append_row_arguments(CommandBatch& batch, const RowArguments& rows) {
  batch.arg(rows.prefix).arg(rows.escape ? "1" : "0").arg(rows.fields->size());
  for (const std::string& field : *rows.fields) batch.arg(field);
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

void append_range_rows(CommandBatch& batch, std::string_view key, const ZsetRange& range, bool members_hold_value,
                       const RowArguments& rows, std::optional<std::size_t> few) {
  ReadScripts::range_rows().begin_call(batch, 1, 11 + rows.fields->size());
  batch.arg(key).arg(range.low).arg(range.high).arg(range.by == ZsetRange::By::kScore ? "BYSCORE" : "BYLEX");
  batch.arg(range.descending ? "1" : "0").arg(range.offset).arg(range.count).arg(members_hold_value ? "1" : "0");
  if (few) batch.arg(*few);
  else batch.arg("-1");
  append_row_arguments(batch, rows);
}

void append_range(CommandBatch& batch, std::string_view key, const ZsetRange& range) {
  const bool by_score = range.by == ZsetRange::By::kScore;
  batch.begin(8 + (range.descending ? 1 : 0) + (by_score ? 1 : 0));
  batch.arg("ZRANGE").arg(key).arg(range.descending ? range.high : range.low).arg(range.descending ? range.low : range.high);
  batch.arg(by_score ? "BYSCORE" : "BYLEX");
  if (range.descending) batch.arg("REV");
  batch.arg("LIMIT").arg(range.offset).arg(range.count);
  if (by_score) batch.arg("WITHSCORES");
}

RangeRows::RangeRows(const Reply& reply, std::size_t fields) : width_(fields) {
  const auto parts = reply.children();
  if (parts.size() != 2) throw sql::SqlError("XX000", "unexpected reply of a range");
  elements_ = parts[0].children();
  has_fields_ = !parts[1].is_nil();
  if (has_fields_) fields_ = parts[1].children();
  if (has_fields_ && fields_.size() < size() * width_) throw sql::SqlError("XX000", "unexpected reply of a range");
}

void append_unique_rows(CommandBatch& batch, std::string_view uniques, std::span<const std::string> values, const RowArguments& rows) {
  ReadScripts::unique_rows().begin_call(batch, 1, 3 + rows.fields->size() + values.size());
  batch.arg(uniques);
  append_row_arguments(batch, rows);
  for (const std::string& value : values) batch.arg(value);
}

void append_group_counts(CommandBatch& batch, std::string_view values, std::string_view null_set, std::span<const std::string> among,
                         const ReadLimits& limits, bool counts) {
  ReadScripts::group_counts().begin_call(batch, 2 + among.size(), 3);
  batch.arg(values).arg(null_set);
  for (const std::string& key : among) batch.arg(key);
  batch.arg(limits.values).arg(counts ? "1" : "0").arg(10 * limits.set_members);
}

}  // namespace redquel::executor
