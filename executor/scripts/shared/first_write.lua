-- Redis whose memory is full refuses only the first write of a script, if that may take memory. Scripts that must run then (locks, ends of
-- units, definitions) begin with a write that takes none.
redis.call('UNLINK', kNoKey)
