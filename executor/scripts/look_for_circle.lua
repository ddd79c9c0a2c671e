-- Notes who waits for a lock that is in another bucket, and looks for a circle of waits. wait_for_lock.lua looks at the lock.
-- KEYS: redquel:waits of the home bucket.
-- ARGV: holder; own token; 1 if it looks for a circle; own session.
-- Replies: "held"; "deadlock" and the holders of the circle.
-- Changes: the own entry of redquel:waits. Removes what ended processes have left there.
-- Holds Redis: some commands for each wait of the circle, at most 1,000.
--#include "executor/scripts/shared/locks.lua"
local call, waits, holder, token, looks, own = redis.call, KEYS[1], ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4]
--#include "executor/scripts/shared/circle_of_waits.lua"
return 'held'
