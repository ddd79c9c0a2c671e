-- The bucket in which a script of the commit protocol runs. Answers TRYAGAIN while the bucket moves: Redis refuses keys that are not there
-- while their slot migrates (ASK), in the middle of a script, too; and the mover's mark stays at a master that was promoted meanwhile.
-- Defines:
--   tag    of KEYS[1]; stored keys of the script begin with it
local tag = string.match(KEYS[1], '^{[^}]*}') or ''
local moving = redis.pcall('EXISTS', kMovingKey)
if moving ~= 0 then return redis.error_reply('TRYAGAIN the bucket moves') end
