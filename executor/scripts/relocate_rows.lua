-- Copies rows to keys that a column of theirs gives them.
-- KEYS: the zset of the new rows; old rows.
-- ARGV: the key column's field; the beginning of new keys; fields that rows lose.
-- Replies: {"copied"}; {"null"}, {"odd", value}, {"twice", value}, {"strange", value}: no key, no integer as redquel spells it, two rows
--   with one key, a key that another program has.
-- Changes: the new rows and their zset.
-- Holds Redis: four commands a row, at most 500 rows.
local call, scored, own = redis.call, {}, {}
local function finish(answer)
  if #scored > 0 then call('ZADD', KEYS[1], unpack(scored)) end  -- bounded: 500 rows
  return answer
end
for k = 2, #KEYS do
  local value = call('HGET', KEYS[k], ARGV[1])
  if not value then
    if call('EXISTS', KEYS[k]) == 1 then return finish({'null'}) end
  else
    if value ~= '0' and not string.find(value, '^%-?[1-9]%d*$') then return finish({'odd', value}) end
    local key = ARGV[2] .. value
    if call('COPY', KEYS[k], key) == 0 then
      local is_row = own[value] or call('ZSCORE', KEYS[1], value)
      return finish({is_row and 'twice' or 'strange', value})
    end
    if ARGV[3] then call('HDEL', key, unpack(ARGV, 3)) end  -- bounded: the columns of a table
    scored[#scored + 1] = value
    scored[#scored + 1] = value
    own[value] = true
  end
end
return finish({'copied'})
