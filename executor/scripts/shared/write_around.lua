-- Runs others_write(KEYS, ARGV) between the checks and the commands of mapped_changes.lua: both take place, or neither.
local own_count, own, others = tonumber(ARGV[1]), {}, {}
for i = 1, own_count do own[i] = ARGV[i + 1] end
for i = own_count + 2, #ARGV do others[i - own_count - 1] = ARGV[i] end
local answer = mapped.check(own)
if answer then return {'mapped', unpack(answer)} end  -- bounded: four words
local result = others_write(KEYS, others)
if result[1] == 'applied' then mapped.write(own) end
return result
