-- Section changes: commands.
while argv[p] ~= '' do
  last = p + argv[p]
  call(unpack(argv, p + 1, last))  -- bounded: 16 rows, or the columns of a table
  p = last + 1
end
-- Section emptied sets: sets and zsets that lose members: the key, the set of values, the value.
for i = p + 1, #argv, 3 do
  if call('EXISTS', argv[i]) == 0 then call('SREM', argv[i + 1], argv[i + 2]) end
end
