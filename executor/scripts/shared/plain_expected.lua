-- Section expected: hashes that hold what is expected, versions of definitions first: how many words, those of an HMGET; the values.
while argv[p] ~= '' do
  local last = p + argv[p]
  local found = call('HMGET', unpack(argv, p + 1, last))  -- bounded: 16 tables, or the columns of a table
  for i = 1, #found do
    local value, expected = found[i], argv[last + i]
    if value ~= expected and expected ~= (value and '\0+' or '\0') then return unclear end
  end
  p = last + #found + 1
end
