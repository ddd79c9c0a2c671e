-- Runs programs: steps of steps/write_steps.lua, which storage/write_program.h writes. Step by step its name and its words; behind the name
-- of one with a list stands how many words follow. The script names the groups of its steps in front ("--#steps"). Defines:
--   check(argv)         runs all checks, which only read. Returns an answer, or nil and the place of the first effect. {"stop", position,
--                       …}: the step there has found what follows instead of what it needs; {"own"} of a Redis user (as_user); of
--                       commits over several buckets {"aborted"}: a tombstone is there, {"prepared"}: already
--   apply(argv, first)  does what the effects say. {"applied"}, {"prepared"}; {"stop", position, error}: nothing has changed
local is_user, taken_row, sums
local function is_integer(text, most) return text and #text <= most and (text == '0' or string.find(text, '^%-?[1-9]%d*$')) end
local function is_counter(text) return text == '0' or #text < 18 and string.find(text, '^[1-9]%d*$') end
local function check(argv)
  local call, unpack, count, p, first, sets = redis.call, unpack, #argv, 1, nil, {}
  while p <= count do
    local step = argv[p]
    --#checks
  end
  -- An intersection with a key that never exists is empty at once, after all types were looked at.
  for i = 1, #sets, 4000 do
    local last = math.min(i + 3999, #sets)
    call('SINTERCARD', last - i + 2, kNoKey, unpack(sets, i, last))  -- bounded: 4,000
  end
  return nil, first or count + 1
end
local function apply(argv, p)
  local call, unpack, count = redis.call, unpack, #argv
  while p <= count do
    local step = argv[p]
    --#applies
  end
  return {'applied'}
end
