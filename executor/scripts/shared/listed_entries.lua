-- Entries of rows that expire, as a field of <prefix>:indices:%ttl lists them: words, each as "<length>:<word>"; first the row's key, then
-- four words for each entry. Defines:
--   row_of(listed)            the row's key
--   forget(listed, member)    removes the entries; keys that hold something else by now stay
-- Errors of these commands (a key that is of another type by now) must not end a script that has begun to write.
local function next_word(listed, position)
  local first, last, size = string.find(listed, '^(%d+):', position)
  if not first then return nil, position end
  return string.sub(listed, last + 1, last + size), last + size + 1
end
local function row_of(listed) return (next_word(listed, 1)) end
local function forget(listed, member)
  local try = redis.pcall
  local kind, key, first, second
  local _, position = next_word(listed, 1)
  while true do
    kind, position = next_word(listed, position)
    if not kind then return end
    key, position = next_word(listed, position)
    first, position = next_word(listed, position)
    second, position = next_word(listed, position)
    if kind == 'zset' then
      try('ZREM', key, first)
    elseif kind == 'entries' then
      local set, at = next_word(first, 1)
      while set do
        local entry
        entry, at = next_word(first, at)
        try('SREM', set, member)
        if try('EXISTS', set) == 0 then try('SREM', key, entry) end
        set, at = next_word(first, at)
      end
    elseif kind == 'ordered value' then
      local end_of_key, end_of_score = string.find(key, '\0', 1, true), string.find(first, '\0', 1, true)
      local zset = string.sub(key, 1, end_of_key - 1)
      try('ZREM', zset, string.sub(first, end_of_score + 1))
      if try('EXISTS', zset) == 0 then try('SREM', second, string.sub(key, end_of_key + 1)) end
    elseif kind == 'unique' then
      if try('HGET', key, first) == member then try('HDEL', key, first) end
    else
      try('SREM', key, member)
      if kind == 'value' and try('EXISTS', key) == 0 then try('SREM', first, second) end
    end
  end
end
