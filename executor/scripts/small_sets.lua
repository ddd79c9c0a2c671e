-- Combines sets of an application. An intersection looks at each member of the smallest set in all others, the rest at every member.
-- KEYS: the sets.
-- ARGV: SINTER, SUNION or SDIFF; most looks.
-- Replies: {1, members}; {0, cardinalities} if it would look at more.
-- Changes: nothing (EVALSHA_RO)
-- Holds Redis: so many looks as the caller allows.
local cards, sum, least = {}, 0, nil
for i = 1, #KEYS do
  local card = redis.call('SCARD', KEYS[i])
  cards[i], sum = card, sum + card
  if not least or card < least then least = card end
end
local work = ARGV[1] == 'SINTER' and least * #KEYS or sum
if work > tonumber(ARGV[2]) then return {0, cards} end
return {1, redis.call(ARGV[1], unpack(KEYS))}  -- bounded: 4,000 sets by the caller
