"""Errors in bodies of routines have their place in the statement, as PostgreSQL gives it."""
from harness.pgwire import query
from harness.transcript import same

CONCURRENT = True

STATEMENTS = [
    "CREATE FUNCTION wrong() RETURNS int LANGUAGE sql AS $$ SELECTT 1 $$",
    "CREATE FUNCTION wrong() RETURNS int LANGUAGE plpgsql AS $$\nBEGIN\n  RETRUN 1;\nEND $$",
    "CREATE FUNCTION wrong() RETURNS int LANGUAGE plpgsql AS $body$\nBEGIN\n  RETURN 1 + ;\nEND $body$",
    "CREATE FUNCTION wrong() RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM ''é''; RETRUN ''x''; END'",
    "DO $$ BEGIN RAIS NOTICE 'x'; END $$",
    "DO 'BEGIN PERFORM ''it''; RAIS NOTICE ''x''; END'",
]


def test_places_of_errors_in_bodies(server, postgres):
    for statement in STATEMENTS:
        same(server, postgres, query(statement))
