-- Locks as Redis holds them (sql/catalog/stored_keys.h). kLockPattern finds the modes and tokens of a field. Defines:
--   is_alive(token)            whether its process still renews its lease; asks once for each process
--   rows_conflict(mode, other) of row locks, modes 1 to 4 (LockMode in storage/locks.h)
--   stops_writes(mode)         of LOCK TABLE: SHARE mode and the stronger ones
local living = {}
local function is_alive(token)
  local process = string.sub(token, 1, 16)
  if living[process] == nil then living[process] = redis.call('EXISTS', kProcessPrefix .. process) == 1 end
  return living[process]
end
local function rows_conflict(mode, other) return mode + other > 4 end
local function stops_writes(mode) return tonumber(mode) >= 5 end
