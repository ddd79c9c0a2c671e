-- Keys of rows. The rules are those of sql/catalog/key_segments.cc; a key that is made by hashing is nil here. Callers have three arguments
-- in a row: prefix ("emp:"), escape (1 if members must be escaped), number of fields; then the fields. Defines:
--   segment(value)                     a value as a part of a key
--   row_key(prefix, escape, member)
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
