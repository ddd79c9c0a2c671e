-- Conflicts of LOCK TABLE's modes, 1 ACCESS SHARE to 8 ACCESS EXCLUSIVE. Defines:
--   tables_conflict(mode, other)
--   conflicts_with_row(mode, row)    with a row lock: those of writes (3, 4) mean ROW EXCLUSIVE, the shared ones ROW SHARE
-- The weakest mode that conflicts with each. All from SHARE UPDATE EXCLUSIVE on conflict with themselves, except SHARE.
local weakest = {8, 7, 5, 4, 3, 3, 2, 1}
local function tables_conflict(mode, other)
  if mode == 5 and other == 5 then return false end
  return other >= weakest[mode]
end
local function conflicts_with_row(mode, row) return mode >= 7 or tonumber(row) >= 3 end
