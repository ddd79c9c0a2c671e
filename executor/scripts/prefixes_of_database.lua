-- Lists the prefixes of redquel's keys in another logical database.
-- KEYS: none.
-- ARGV: number of the database.
-- Replies: the prefixes; an error if Redis has no such database.
-- Changes: nothing.
-- Holds Redis: one command.
redis.call('SELECT', ARGV[1])
return redis.call('HKEYS', kPrefixesKey)
