"""No script takes a list that data make long in one piece: Lua's stack holds about 8,000 values."""
from harness.waiting import wait_for

VALUES = 10_000


def test_a_dead_sessions_temporary_table_is_cleared(make_server, make_redis):
    """SSCAN may give all members of a set at once, whatever its COUNT."""
    redis = make_redis("--set-max-intset-entries", "100000")
    dead = make_server(redis=redis)
    connection = dead.connect()
    connection.run("CREATE TEMP TABLE passing (id int PRIMARY KEY, n int, w text); CREATE INDEX ON passing (n); CREATE INDEX ON passing (w)")
    connection.run(f"INSERT INTO passing SELECT g, g, 'w' || g FROM generate_series(1, {VALUES}) g")
    dead.kill()
    with redis.connect() as raw, make_server(redis=redis).connect() as other:
        for key in raw.keys("redquel:process:*"):
            raw("DEL", key)
        other.run("CREATE TABLE kept (id int PRIMARY KEY)")

        def is_cleared():
            for statement in ("ANALYZE", "VACUUM", "ANALYZE kept"):
                other.run(statement)
            return not raw.keys("passing*") and raw("HLEN", "redquel:removals") == 0
        wait_for(is_cleared, what="the keys of the dead session")


def test_many_tables_in_one_transaction(make_server, make_redis):
    """A commit compares the versions of all tables that it has written."""
    with make_server(redis=make_redis()).connect() as connection:
        for first in range(0, 40):
            connection.run(f"CREATE TABLE t{first} (id int PRIMARY KEY, n int)")
        connection.run("BEGIN")
        for number in range(0, 40):
            connection.run(f"INSERT INTO t{number} SELECT g, g FROM generate_series(1, 300) g")
        connection.run("COMMIT")
        assert connection.run("SELECT count(*) FROM t39") == [["300"]]


def test_conditions_over_many_sets(make_server, make_redis):
    with make_server(redis=make_redis()).connect() as connection:
        connection.run("CREATE TABLE many (id int PRIMARY KEY, a int, b int); CREATE INDEX ON many (a); CREATE INDEX ON many (b)")
        connection.run(f"INSERT INTO many SELECT g, g, g % 3 FROM generate_series(1, {VALUES}) g")
        numbers = ", ".join(map(str, range(1, VALUES + 1)))
        assert connection.run(f"SELECT count(*) FROM many WHERE a IN ({numbers}) AND b = 1") == [[str((VALUES + 2) // 3)]]
        assert connection.run(f"SELECT count(*) FROM many WHERE id IN ({numbers})") == [[str(VALUES)]]
        assert connection.run(f"SELECT count(*) FROM many WHERE a NOT IN ({numbers})") == [["0"]]
        alternatives = " OR ".join(f"a = {number}" for number in range(1, VALUES + 1))
        assert connection.run(f"SELECT count(*) FROM many WHERE b = 1 AND ({alternatives})") == [[str((VALUES + 2) // 3)]]
        conjuncts = " AND ".join(f"a <> {number}" for number in range(1, VALUES + 1))
        assert connection.run(f"SELECT count(*) FROM many WHERE b = 1 AND {conjuncts}") == [["0"]]
        equals = " AND ".join(f"a = {number}" for number in range(1, VALUES + 1))
        assert connection.run(f"SELECT count(*) FROM many WHERE b = 1 AND {equals}") == [["0"]]


def test_many_rows_that_fail(make_server, make_redis):
    """The answer of a write lists each of them."""
    with make_server(redis=make_redis()).connect() as connection:
        connection.run("CREATE TABLE twice (id int PRIMARY KEY, u int UNIQUE)")
        connection.run(f"INSERT INTO twice SELECT g, g FROM generate_series(1, {VALUES}) g")
        connection.run(f"INSERT INTO twice SELECT g, g FROM generate_series(1, {VALUES}) g ON CONFLICT DO NOTHING")
        connection.run(f"INSERT INTO twice SELECT {VALUES} + g, g FROM generate_series(1, {VALUES}) g ON CONFLICT (u) DO NOTHING")
        connection.run(f"INSERT INTO twice SELECT g, g FROM generate_series(1, {VALUES}) g ON CONFLICT (id) DO UPDATE SET u = excluded.u")
        assert connection.run("SELECT count(*) FROM twice") == [[str(VALUES)]]
        assert connection.run("SELECT * FROM redquel.check_indexes('twice')") == []
        connection.run("DELETE FROM twice")
        assert connection.run("SELECT count(*) FROM twice") == [["0"]]
