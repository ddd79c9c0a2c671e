-- Defines redo_of(name, keys, argv): the keys and arguments by which write_rows.lua repeats a unit that was verified, and the unit's locks.
-- What was verified stays out: the locks keep it so until the commit is applied, and an application that ignores locks must not stop half
-- of a commit. The sections are those of write_rows.lua.
local function redo_of(name, keys, argv)
  local left, words, locks, k, p = {}, {'follow', '', '', ''}, {}, 1, 5
  local function keep_keys(count)
    for i = k, k + count - 1 do left[#left + 1] = keys[i] end
    k = k + count
  end
  local function keep(count)
    for i = p, p + count - 1 do words[#words + 1] = argv[i] end
    p = p + count
  end
  local function take()
    p = p + 1
    return argv[p - 1] + 0
  end
  local function skip(count) p = p + count end
  local function put(word) words[#words + 1] = word end
  -- Tables, relied tables.
  local tables = tonumber(argv[p])
  keep(1 + 2 * tables)
  keep_keys(1 + tables)
  skip(2 * take())
  put('0')
  -- Locks.
  put(name)
  p = p + 1
  local lock_tables = tonumber(argv[p])
  keep(1)
  for t = 1, lock_tables do
    local count, strengths, fields = tonumber(argv[p]), {}, {}
    for i = 1, count do strengths[i], fields[i] = string.sub(argv[p + i], 1, 1), string.sub(argv[p + i], 2) end
    locks[t] = {keys[k], strengths, fields}
    keep(1 + count)
    keep_keys(1)
  end
  -- Reads.
  for _ = 1, take() do
    p, k = p + 2, k + 1
    for _ = 1, take() do
      skip(2 * take())
      k = k + 1
    end
  end
  put('0')
  -- New keys.
  local count = take()
  put(tostring(count))
  put('0')
  p = p + 1
  keep_keys(count)
  -- Old rows.
  local old_rows = {}
  put(argv[p])
  for _ = 1, take() do
    local fate, rows, fields = argv[p], tonumber(argv[p + 1]), tonumber(argv[p + 2])
    put(fate)
    put(tostring(rows))
    put('0')
    p = p + 3 + fields + rows * fields
    for i = k, k + rows - 1 do old_rows[#old_rows + 1] = keys[i] end
    keep_keys(rows)
  end
  -- Unique values.
  put(argv[p])
  for _ = 1, take() do
    skip(2 * take())
    put('0')
    keep_keys(1)
  end
  -- Sets, zsets.
  for _ = 1, 2 do
    put(argv[p])
    keep_keys(take())
  end
  -- Parents, children.
  local parents = take()
  p, k = p + 2 * parents, k + parents
  put('0')
  for _ = 1, take() do
    p = p + 1 + tonumber(argv[p])
    p, k = p + 1, k + 1
  end
  put('0')
  keep(#argv - p + 1)
  keep_keys(#keys - k + 1)
  return left, words, locks, old_rows
end
