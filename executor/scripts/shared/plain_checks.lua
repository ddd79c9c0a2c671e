-- Section new keys: how many, the keys of new rows.
p = p + 1
last = p + argv[p]
if last > p and call('EXISTS', unpack(argv, p + 1, last)) > 0 then return unclear end  -- bounded: 16 rows
p = last + 1
-- Section types: commands that end in an error if a key is of another type.
while argv[p] ~= '' do
  last = p + argv[p]
  call(unpack(argv, p + 1, last))  -- bounded: 16 rows, or the columns of a table
  p = last + 1
end
p = p + 1
