-- Section increments: fields that grow: key, field, by how much, the bound. As in write_rows.lua.
while argv[p] ~= '' do
  local value, bound = call('HGET', argv[p], argv[p + 1]), argv[p + 3] + 0
  if not value or #value > 16 or not (value == '0' or string.find(value, '^%-?[1-9]%d*$')) then return unclear end
  local sum = value + argv[p + 2]
  if sum > bound or sum < -bound then return unclear end
  p = p + 4
end
