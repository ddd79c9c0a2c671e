-- Writes keys of foreign tables as another Redis user than redquel's own login, after guard_mapped_write.lua has allowed it.
-- KEYS: none.
-- ARGV: those of shared/mapped_changes.lua. Without a version guard_mapped_write.lua has looked at version and locks.
-- Replies: {"applied"}; an answer of shared/mapped_changes.lua; {"own"}, without a version: the user may write redquel's keys, so this
--   script can do all at once, or it is redquel's own login, because the other one was refused; NOPERM where he may not run a command.
-- Changes: what the commands say, in any logical database.
-- Holds Redis: two microseconds for each command, at most 40,000.
--#include "executor/scripts/shared/mapped_changes.lua"
local is_guarded = ARGV[1] == ''
if is_guarded and redis.acl_check_cmd('SET', kVersionKey, '') then return {'own'} end
local answer = (is_guarded and mapped.locks or mapped.guard)(ARGV) or mapped.compare(ARGV)
if answer then return answer end
-- A command that is refused in the middle would leave the change half done.
local position = mapped.position
while position <= #ARGV do
  local words
  words, position = mapped.take(ARGV, position)
  if words[1] == '@indices' then words = {'SMEMBERS', words[2]} end
  if words[1] == '@uniques' then words = {'HGETALL', words[2]} end
  if not redis.acl_check_cmd(unpack(words)) then  -- bounded: a row
    return redis.error_reply('NOPERM the user has no permissions to run ' .. words[1] .. ' on a key of the table')
  end
end
mapped.write(ARGV)
return {'applied'}
