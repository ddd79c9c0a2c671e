-- Changes definitions, if the catalog still has the expected version.
-- KEYS: redquel:version, redquel:catalog, redquel:versions, redquel:prefixes, redquel:removals, redquel:format; if roles change, too:
--   redquel:roles, redquel:verifiers, redquel:databases.
-- ARGV: the expected and the new version; the oid that must still be the next one, or ""; the format's number; then lists, each with its
--   length in front:
--     roles: empty, or the number of this database and the arguments of role_change.lua;
--     unchanged: counters of changes and their values (pairs); free: tables that no unit may have for itself;
--     for each of catalog, versions, prefixes, removals: fields to set (pairs), fields to remove;
--     deleted keys; renamed keys (pairs); counters that go up; leases of index builds (pairs: key, milliseconds).
-- Replies: "committed"; "stale" if something is not as expected; "busy" if a unit has one of the tables for itself.
-- Changes: the keys above, counters, renamed and deleted keys.
-- Holds Redis: a command for each entry; a statement names some hundreds at most, a schema that is dropped some thousands.
--#include "executor/scripts/shared/catalog_change.lua"
local refusal, change = catalog_change(KEYS, ARGV)
if refusal then return refusal end
change()
return 'committed'
