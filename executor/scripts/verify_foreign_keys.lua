-- Looks at references of rows that are written already, as write_rows does for rows that it writes.
-- KEYS: redquel:versions; the places that are needed and those that were given up; for each of these the set of rows that refer to it.
-- ARGV: number of tables; their oids and versions; numbers of places of both kinds; for each place: row or value, and the value.
-- Replies: {"missing", places from 0 on…}; {"stale"}.
-- Changes: nothing.
-- Holds Redis: two commands a place, at most 5,000.
local call, p = redis.call, 2
for _ = 1, tonumber(ARGV[1]) do
  if (call('HGET', KEYS[1], ARGV[p]) or '') ~= ARGV[p + 1] then return {'stale'} end
  p = p + 2
end
local needed, released = tonumber(ARGV[p]), tonumber(ARGV[p + 1])
local places = needed + released
p = p + 2
local missing = {'missing'}
for i = 1, places do
  if i <= needed or call('SCARD', KEYS[1 + released + i]) > 0 then
    local exists
    if ARGV[p] == 'row' then exists = call('EXISTS', KEYS[1 + i]) else exists = call('HEXISTS', KEYS[1 + i], ARGV[p + 1]) end
    if exists == 0 then missing[#missing + 1] = i - 1 end
  end
  p = p + 2
end
return missing
