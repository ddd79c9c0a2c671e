-- Runs reading commands as one atomic unit. Redis whose memory is full refuses MULTI, but not a script.
-- KEYS: none.
-- ARGV: the commands, encoded as RESP.
-- Replies: one reply for each command.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: as long as the commands.
local replies, text, at = {}, ARGV[1], 1
local function header()
  local last = string.find(text, '\r\n', at, true)
  local number = tonumber(string.sub(text, at + 1, last - 1))
  at = last + 2
  return number
end
-- Lua's stack holds about 8,000 values. These commands give a reply for each word behind so many: longer ones run in
-- pieces.
local heads, piece_size = {MGET = 1, HMGET = 2, SMISMEMBER = 2, ZMSCORE = 2}, 4000
local function run(words)
  local head = heads[words[1]]
  if not head or #words <= piece_size then return redis.pcall(unpack(words)) end  -- bounded: others are short
  local all = {}
  for first = head + 1, #words, piece_size do
    local piece = {unpack(words, 1, head)}  -- bounded: two words
    for i = first, math.min(first + piece_size - 1, #words) do piece[#piece + 1] = words[i] end
    local found = redis.pcall(unpack(piece))  -- bounded: a piece
    if found.err then return found end
    for i = 1, #found do all[#all + 1] = found[i] end
  end
  return all
end
while at <= #text do
  local words = {}
  for w = 1, header() do
    local length = header()
    words[w] = string.sub(text, at, at + length - 1)
    at = at + length + 2
  end
  replies[#replies + 1] = run(words)
end
return replies
