-- Decides what became of a commit whose answer was lost: if it has not taken place, it never will.
-- KEYS: the commits of an engine.
-- ARGV: slot; number of the commit.
-- Replies: "committed" or "fenced".
-- Changes: the slot.
-- Holds Redis: three commands.
local number, word = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '(%d+) (%a+)')
if number == ARGV[2] and word == 'committed' then return 'committed' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' fenced')
redis.call('PEXPIRE', KEYS[1], 86400000)
return 'fenced'
