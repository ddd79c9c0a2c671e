-- Algebra over sets (SetProgram in tables/set_scripts.h) as trees: a leaf is a set, a set of short members, which `head` and `tail` make
-- whole, or a range of a zset; `size` is how many members it has at most. Work begins with the smallest operand. Defines:
--   parse(first, next_key)       the tree of the arguments from `first` on over the keys behind `next_key`, and the looks that it takes
--   members(node)                its members
--   contains(node, ids)          for each of the ids 1 or 0
--   in_chunks(command, key, ids, take)
local chunk_size = 4000

local function in_chunks(command, key, ids, take)
  for from = 1, #ids, chunk_size do
    local part = redis.call(command, key, unpack(ids, from, math.min(from + chunk_size - 1, #ids)))  -- bounded: a piece
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
    elseif op == 'c' then
      next_key = next_key + 1
      local set = KEYS[next_key]
      stack[#stack + 1] = {set = set, head = ARGV[p + 1], tail = ARGV[p + 2], size = redis.call('SCARD', set), leaves = 1}
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
  if node.key and #ids <= chunk_size then
    if #ids == 0 then return flags end
    return redis.call('SMISMEMBER', node.key, unpack(ids))  -- bounded: a piece
  end
  if node.key then
    in_chunks('SMISMEMBER', node.key, ids, function(i, flag) flags[i] = flag end)
    return flags
  end
  if node.set then
    local head, tail, short, at = node.head, node.tail, {}, {}
    for i = 1, #ids do
      local id = ids[i]
      flags[i] = 0
      if #id > #head + #tail and id:sub(1, #head) == head and id:sub(#id - #tail + 1) == tail then
        short[#short + 1] = id:sub(#head + 1, #id - #tail)
        at[#short] = i
      end
    end
    in_chunks('SMISMEMBER', node.set, short, function(i, flag) flags[at[i]] = flag end)
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
  if #node > chunk_size then return nil end
  local products, plain = {{}}, true
  for j = 1, #node do
    local choices = node[j].key and {node[j]} or node[j]
    if node[j].zset or (not node[j].key and node[j].op ~= 'u') or #choices * #products > 12 then return nil end
    plain = plain and node[j].key ~= nil
    local longer = {}
    for _, product in ipairs(products) do
      for i = 1, #choices do
        if not choices[i].key then return nil end
        local keys = {unpack(product)}  -- bounded: a piece
        keys[#keys + 1] = choices[i].key
        longer[#longer + 1] = keys
      end
    end
    products = longer
  end
  return not plain and products or nil
end

local function whole(node, ids)
  for i = 1, #ids do ids[i] = node.head .. ids[i] .. node.tail end
  return ids
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
      for _, id in ipairs(redis.call('SINTER', unpack(product))) do  -- bounded: a piece
        if not seen[id] then seen[id] = true; ids[#ids + 1] = id end
      end
    end
    return ids
  end
  if smallest and not (rest[1] and rest[1].size < smallest) then
    ids = redis.call('SINTER', unpack(keys, 1, math.min(#keys, chunk_size)))  -- bounded: a piece
    for j = chunk_size + 1, #keys do ids = keep(ids, plain[j], 1) end
  else
    ids = members(table.remove(rest, 1))
    for _, operand in ipairs(plain) do ids = keep(ids, operand, 1) end
  end
  for _, operand in ipairs(rest) do ids = keep(ids, operand, 1) end
  return ids
end
function members(node)
  if node.key then return redis.call('SMEMBERS', node.key) end
  if node.set then return whole(node, redis.call('SMEMBERS', node.set)) end
  if node.zset then return redis.call('ZRANGE', node.zset, node.low, node.high, 'BYSCORE') end
  if node.op == 'i' then return intersect(node) end
  local keys = {}
  for j = 1, #node do keys[#keys + 1] = node[j].key end
  -- Bounded: a piece.
  if #keys == #node and #keys <= chunk_size then return redis.call(node.op == 'u' and 'SUNION' or 'SDIFF', unpack(keys)) end
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
