"""Temporary tables leave nothing behind when their session ends, however it ends."""
from harness.waiting import wait_for

CONCURRENT = True


def temporary_keys(redis):
    with redis.connect() as raw:
        return [key for key in raw.keys() if "pg_temp" in key]


def test_a_session_that_ends_drops_its_tables(server, redis):
    with server.connect() as connection:
        connection.run("CREATE TEMP TABLE left_behind (id serial PRIMARY KEY, word text UNIQUE)")
        connection.run("CREATE INDEX ON left_behind (word)")
        connection.run("INSERT INTO left_behind (word) SELECT 'w' || i FROM generate_series(1, 100) AS i")
        assert temporary_keys(redis)
    wait_for(lambda: temporary_keys(redis) == [], what="the end of the temporary tables")
    with server.connect() as connection:
        names = connection.run("SELECT relname FROM pg_class WHERE relpersistence = 't'")
        assert not names, names


def test_a_session_that_vanishes_drops_its_tables(server, redis):
    connection = server.connect()
    connection.run("CREATE TEMP TABLE vanished (id integer PRIMARY KEY)")
    connection.run("BEGIN")
    connection.run("INSERT INTO vanished SELECT generate_series(1, 100)")
    connection.abandon()
    wait_for(lambda: temporary_keys(redis) == [], what="the end of the temporary tables")


DEPENDENTS = """
CREATE TEMP TABLE r1 (x integer);
CREATE TEMP SEQUENCE counter;
CREATE TYPE pg_temp.short AS ENUM ('a', 'b');
CREATE FUNCTION pg_temp.one() RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE TABLE beside (id integer PRIMARY KEY, kind pg_temp.short, r r1, n integer DEFAULT nextval('counter'), o integer DEFAULT pg_temp.one());
CREATE TABLE keyed (kind pg_temp.short, id integer, PRIMARY KEY (kind, id));
INSERT INTO beside (id, kind, r) VALUES (1, 'a', ROW(5));
INSERT INTO keyed VALUES ('a', 1), ('b', 2);
CREATE DOMAIN rows AS r1[];
CREATE DOMAIN more_rows AS rows;
CREATE FUNCTION first_of(r1) RETURNS integer LANGUAGE sql AS 'SELECT $1.x';
CREATE MATERIALIZED VIEW kept AS SELECT id, kind FROM beside
"""


def test_dependents_of_temporary_objects_are_dropped_with_them(fresh_server):
    with fresh_server.connect() as connection:
        connection.run(DEPENDENTS)
    with fresh_server.connect() as connection:
        wait_for(lambda: connection.run("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pg_temp_%'") == [], what="the end of the schema")
    fresh_server.restart()
    with fresh_server.connect() as connection:
        assert connection.run("SELECT typname FROM pg_type WHERE oid >= 16384 AND typrelid = 0 AND typelem = 0") == []
        assert connection.run("SELECT proname FROM pg_proc WHERE pronamespace <> 'pg_catalog'::regnamespace AND proname IN ('one', 'first_of')") == []
        assert connection.run("SELECT relname FROM pg_class WHERE oid >= 16384 AND relkind <> 'i' ORDER BY 1") == [["beside"], ["keyed"]]
        assert connection.run("SELECT * FROM beside") == [["1", "1", "1"]]
        assert connection.run("SELECT * FROM keyed ORDER BY id") == [["1"], ["2"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('beside')") == []


def test_a_domain_over_rows_of_a_table_survives_a_restart(fresh_server):
    with fresh_server.connect() as connection:
        connection.run("CREATE TABLE r1 (x integer); CREATE DOMAIN rows AS r1[]; CREATE TABLE holder (id integer PRIMARY KEY, r rows);"
                       "INSERT INTO holder VALUES (1, ARRAY[ROW(1), ROW(2)]::r1[])")
    fresh_server.restart()
    with fresh_server.connect() as connection:
        assert connection.run("SELECT r[2].x, pg_typeof(r) FROM holder") == [["2", "rows"]]
        assert connection.run("SELECT typbasetype::regtype FROM pg_type WHERE typname = 'rows'") == [["r1[]"]]


def test_a_permanent_type_takes_no_field_of_a_temporary_one(server):
    with server.connect() as connection:
        connection.run("CREATE TEMP TABLE passing (x integer); CREATE TYPE lasting AS (n integer)")
        for sql in ("CREATE TYPE pair AS (a integer, b passing)", "CREATE TYPE pair AS (b passing[])", "ALTER TYPE lasting ADD ATTRIBUTE b passing"):
            assert connection.run_error(sql)["C"] == "0A000", sql
        connection.run("CREATE TYPE pg_temp.pair AS (a integer, b passing); DROP TYPE lasting")
