-- Notes that a session waits, and looks for a circle of waits if `looks` is true. Needs call, waits (the key), token, holder, own (the
-- session) and locks.lua. Returns "deadlock" and the holders of a circle.
--#include "executor/scripts/shared/first_write.lua"
call('HSET', waits, own, token .. ' ' .. holder)
if looks then
  -- Some of those that killed processes have left.
  for _, waiter in ipairs(call('HRANDFIELD', waits, 20)) do
    if not is_alive(waiter) then call('HDEL', waits, waiter) end
  end
  local function session_of(of)
    local pid = string.match(of, '%.(%d+)$')
    return pid and pid ~= '0' and string.sub(of, 1, 16) .. '.' .. pid or of
  end
  local at, circle = holder, {holder}
  for _ = 1, 1000 do
    at = string.match(call('HGET', waits, session_of(at)) or '', '%S+ (%S+)')
    if not at or not is_alive(at) then break end
    if session_of(at) == own then
      call('HDEL', waits, own)
      return 'deadlock ' .. table.concat(circle, ' ')
    end
    circle[#circle + 1] = at
  end
end
