-- Runs others_write(KEYS, ARGV) between the checks and the effects of a program: both take place, or neither.
local own_count, own, others = tonumber(ARGV[1]), {}, {}
for i = 1, own_count do own[i] = ARGV[i + 1] end
for i = own_count + 2, #ARGV do others[i - own_count - 1] = ARGV[i] end
local answer, first = check(own)
if answer then return answer.err and answer or {'mapped', unpack(answer)} end  -- bounded: four words
local result = others_write(KEYS, others)
if result[1] == 'applied' then apply(own, first) end
return result
