"""A Redis whose memory is full refuses what needs more of it, and runs what makes room."""
from harness.pgwire import ServerError

SCHEMA = """
CREATE TABLE plain (id integer PRIMARY KEY, n integer, w text UNIQUE); CREATE INDEX ON plain (n);
CREATE TABLE large (id integer PRIMARY KEY, n integer); CREATE INDEX ON large (n);
CREATE TABLE parent (id integer PRIMARY KEY); CREATE TABLE child (id integer PRIMARY KEY, parent integer REFERENCES parent ON DELETE CASCADE);
CREATE TABLE numbered (id serial PRIMARY KEY, w text);
CREATE FOREIGN TABLE mapped (id bigint, name text) SERVER redis OPTIONS (layout 'hash', key 'mapped:{id}');
INSERT INTO parent SELECT generate_series(1, 10); INSERT INTO child SELECT i, i FROM generate_series(1, 10) AS i;
INSERT INTO plain SELECT i, i % 7, 'w' || i FROM generate_series(1, 2000) AS i;
INSERT INTO large SELECT i, i % 7 FROM generate_series(1, 15000) AS i;
INSERT INTO numbered (w) SELECT 'x' FROM generate_series(1, 100) AS i;
INSERT INTO mapped SELECT i, 'x' FROM generate_series(1, 5) AS i
"""

NEEDS_MEMORY = ("INSERT INTO plain VALUES (100000, 1, 'q')", "UPDATE plain SET w = w || repeat('x', 1000) WHERE id = 1999",
                "INSERT INTO large SELECT i, 1 FROM generate_series(100000, 120000) AS i", "INSERT INTO mapped VALUES (9, 'y')",
                "CREATE TABLE copied AS SELECT * FROM large")

MAKES_ROOM = ("DELETE FROM plain WHERE id = 1", "DELETE FROM plain WHERE id IN (2, 3)", "DELETE FROM plain WHERE n = 3", "DELETE FROM plain WHERE id < 1500",
              "DELETE FROM parent WHERE id = 1", "DELETE FROM mapped WHERE id = 1", "DELETE FROM mapped",
              "BEGIN; DELETE FROM plain WHERE id = 1600; COMMIT", "BEGIN; DELETE FROM plain WHERE id = 1601; DELETE FROM child; COMMIT",
              "BEGIN; SELECT * FROM plain WHERE id = 1602 FOR UPDATE; DELETE FROM plain WHERE id = 1602; COMMIT",
              "BEGIN; LOCK TABLE numbered; DELETE FROM numbered WHERE id = 1; ROLLBACK",
              "DELETE FROM large WHERE n < 3", "DELETE FROM large", "DROP INDEX plain_n_idx", "TRUNCATE parent, child", "TRUNCATE plain",
              "TRUNCATE numbered RESTART IDENTITY", "ALTER TABLE numbered DROP COLUMN w", "DROP TABLE plain", "DROP TABLE parent, child",
              "DROP TABLE large", "DROP FOREIGN TABLE mapped", "DROP SCHEMA public CASCADE")


def test_statements_that_free_memory_run_while_it_is_full(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection, redis.connect() as raw:
        for sql in SCHEMA.split(";"):
            connection.run(sql)
        raw("CONFIG", "SET", "maxmemory-policy", "noeviction")
        raw("CONFIG", "SET", "maxmemory", "1mb")
        for sql in NEEDS_MEMORY:
            assert connection.run_error(sql)["C"] == "53200", sql
        for sql in MAKES_ROOM:
            try:
                connection.run(sql)
            except ServerError as error:
                raise AssertionError(f"{sql}: {error}") from error
            for table in ("plain", "large", "child"):
                checked = connection.query(f"SELECT * FROM redquel.check_indexes('{table}')")[-1]
                assert checked.error and checked.error["C"] == "42P01" or checked.texts() == [], (sql, table, checked)
        raw("CONFIG", "SET", "maxmemory", "0")
        left = [key for key in raw.keys() if not key.startswith("redquel:")]
        assert not left, left


def test_a_session_begins_while_the_memory_is_full(make_server, make_redis):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection:
        connection.run("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 20000)")
    with redis.connect() as raw:
        raw("CONFIG", "SET", "maxmemory-policy", "noeviction")
        raw("CONFIG", "SET", "maxmemory", "1mb")
    with make_server(redis=redis).connect() as connection:
        assert connection.run("SELECT count(*) FROM t") == [["20000"]]
        connection.run("DROP TABLE t")
