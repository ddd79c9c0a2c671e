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
while at <= #text do
  local words = {}
  for w = 1, header() do
    local length = header()
    words[w] = string.sub(text, at, at + length - 1)
    at = at + length + 2
  end
  replies[#replies + 1] = redis.pcall(unpack(words))
end
return replies
