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
