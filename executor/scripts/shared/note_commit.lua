-- Notes in the commit's slot (token_key, token_slot, token_number) that it took place. The slots of an engine live a day longer.
if token_key ~= '' then
  call('HSET', token_key, token_slot, token_number .. ' committed')
  if call('PTTL', token_key) < 43200000 then call('PEXPIRE', token_key, 86400000) end
end
