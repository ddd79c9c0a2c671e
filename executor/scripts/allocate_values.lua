-- Takes values of a sequence. Numbers of 64 bits do not fit Lua's doubles: they are compared as strings, and only INCRBY adds them.
-- KEYS: of an application's counter in a cluster: a key of its slot that never exists; the counter.
-- ARGV: start; increment; minimum; maximum; 1 if it cycles; count of values; how many of them, the last ones, are given only if the
--   sequence goes so far without beginning again.
-- Replies: flat runs (last value, count of values)…; {"end"} if the sequence is exhausted; {"junk"} if the counter holds no integer of 64
--   bits.
-- Changes: the counter.
-- Holds Redis: a few commands for each run; a run is shorter only near the end of the sequence.
local key = KEYS[#KEYS]
local start, increment, minimum, maximum, cycle, remaining, ahead = unpack(ARGV)
remaining, ahead = tonumber(remaining), tonumber(ahead)
local descending = string.sub(increment, 1, 1) == '-'
local function less(a, b)
  local a_negative, b_negative = string.sub(a, 1, 1) == '-', string.sub(b, 1, 1) == '-'
  if a_negative ~= b_negative then return a_negative end
  if a_negative then a, b = string.sub(b, 2), string.sub(a, 2) end
  if #a ~= #b then return #a < #b end
  return a < b
end
local function beyond(value)
  if descending then return less(value, minimum) end
  return less(maximum, value)
end
local function negated(number)
  if string.sub(number, 1, 1) == '-' then return string.sub(number, 2) end
  return '-' .. number
end
-- Moves the counter, unless that leads beyond the end: then it stays, and the answer is false.
local function advance(delta)
  local result = redis.pcall('INCRBY', key, delta)
  if type(result) == 'table' and result.err then
    if string.find(result.err, 'overflow') then return false end
    error(result.err)
  end
  local value = redis.call('GET', key)
  if not beyond(value) then return value end
  redis.call('INCRBY', key, negated(delta))
  return false
end

local function is_integer(text)
  local is_written_so = text == '0' or string.find(text, '^%-?[1-9]%d*$')
  return is_written_so and not less(text, '-9223372036854775808') and not less('9223372036854775807', text)
end
local held = redis.call('GET', key)
if held and not is_integer(held) then return {'junk'} end
local given = {}
local function give(last, count) given[#given + 1], given[#given + 2] = last, string.format('%.0f', count) end
if not held then
  redis.call('SET', key, start)
  give(start, 1)
  remaining = remaining - 1
end
local step = remaining
while remaining > 0 do
  local delta = tonumber(increment) * step
  local last = false
  if step == 1 then
    last = advance(increment)
  elseif math.abs(delta) < 2 ^ 53 then
    last = advance(string.format('%.0f', delta))
  end
  if not last and step > 1 then
    step = math.floor(step / 2)
  elseif not last and remaining <= ahead then
    break
  else
    if not last then
      if cycle ~= '1' then return {'end'} end
      last = descending and maximum or minimum
      redis.call('SET', key, last)
    end
    give(last, step)
    remaining = remaining - step
    step = math.min(2 * step, remaining)
  end
end
return given
