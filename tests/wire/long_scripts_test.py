"""However many rows a transaction changes, no script is given more work than Redis does in its share of time. A script's work is
counted by its arguments: time says nothing on a loaded machine."""
import contextlib
import re

CONCURRENT = True
ROWS = 7_000
# 2,000 rows (limits.script_rows) with all that is said of each are 42,000.
MOST_ARGUMENTS = 50_000
SETUP = """
    DROP TABLE IF EXISTS child, parent, apart;
    CREATE TABLE parent (id integer PRIMARY KEY, u integer UNIQUE, d integer UNIQUE INITIALLY DEFERRED, word text);
    CREATE INDEX ON parent (word);
    CREATE TABLE child (id integer PRIMARY KEY, parent integer REFERENCES parent ON DELETE CASCADE);
    CREATE TABLE apart (id integer PRIMARY KEY, n integer);
"""


def arguments_of(entry):
    words = entry[3]
    last = words[-1].decode() if isinstance(words[-1], bytes) else words[-1]
    more = re.fullmatch(r"\.\.\. \((\d+) more arguments\)", last)
    return len(words) + (int(more.group(1)) if more else 0)


def longest(redis, connection, statement):
    """Arguments of the longest script that the statement takes."""
    with redis.connect() as raw:
        raw("CONFIG", "SET", "slowlog-max-len", "100000")
        raw("CONFIG", "SET", "slowlog-log-slower-than", "0")
        raw("SLOWLOG", "RESET")
        connection.run(statement)
        entries = raw("SLOWLOG", "GET", "-1")
        raw("CONFIG", "SET", "slowlog-log-slower-than", "10000")
        raw("SLOWLOG", "RESET")
    scripts = [entry for entry in entries if entry[3][0] in (b"EVALSHA", "EVALSHA")]
    return max((arguments_of(entry) for entry in scripts), default=0)


@contextlib.contextmanager
def fresh(make_redis, make_server):
    """A Redis of its own with the tables, and a session."""
    redis = make_redis()
    with make_server(redis=redis).connect() as connection:
        connection.run(SETUP)
        yield redis, connection


def check_steps(redis, connection, steps):
    for step in steps:
        assert longest(redis, connection, step) < MOST_ARGUMENTS, step


def check_indexes(connection, *tables):
    for table in tables:
        assert connection.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []


def test_statements_of_a_transaction_are_verified_in_parts(make_redis, make_server):
    with fresh(make_redis, make_server) as (redis, connection):
        check_steps(redis, connection, [
            "BEGIN",
            f"INSERT INTO parent SELECT g, g, g, 'w' || g % 7 FROM generate_series(1, {ROWS}) g",
            f"INSERT INTO child SELECT g, g % {ROWS} + 1 FROM generate_series(1, {ROWS}) g",
            "COMMIT",
            "BEGIN",
            "UPDATE parent SET u = u + 1",
            f"UPDATE parent SET d = {ROWS} - d",
            "UPDATE child SET parent = parent % 100 + 1",
            "SET CONSTRAINTS ALL IMMEDIATE",
            f"DELETE FROM parent WHERE id > {ROWS // 2}",
            "COMMIT",
        ])
        assert connection.run("SELECT count(*) FROM parent") == [[str(ROWS // 2)]]
        check_indexes(connection, "parent", "child")


def test_very_many_rows_refer_to_one(make_redis, make_server):
    redis = make_redis()
    server = make_server(redis=redis)
    crowd = 60_000
    with server.connect() as connection:
        connection.run(SETUP + f"""
            CREATE TABLE crowd (id integer PRIMARY KEY, parent integer REFERENCES parent);
            INSERT INTO parent VALUES (1, 1, 1);
            INSERT INTO crowd SELECT g, 1 FROM generate_series(1, {crowd}) g;
        """)
        connection.run("BEGIN; DELETE FROM crowd WHERE id > 1")
        assert connection.run_error("DELETE FROM parent WHERE id = 1")["C"] == "23503"  # one of all of them is still there
        connection.run("ROLLBACK")
        check_steps(redis, connection, ["BEGIN", "DELETE FROM crowd", "DELETE FROM parent WHERE id = 1", "COMMIT"])
        assert connection.run("SELECT (SELECT count(*) FROM parent), (SELECT count(*) FROM crowd)") == [["0", "0"]]
        check_indexes(connection, "parent", "crowd")


def test_rows_of_a_new_table_go_ahead(make_redis, make_server):
    with fresh(make_redis, make_server) as (redis, connection):
        check_steps(redis, connection, [
            "BEGIN",
            "CREATE TABLE made (id integer PRIMARY KEY, u integer UNIQUE, word text)",
            "CREATE INDEX ON made (word)",
            f"INSERT INTO made SELECT g, g, 'w' || g % 7 FROM generate_series(1, {ROWS}) g",
            "UPDATE made SET u = u + 1, word = 'x'",
            f"DELETE FROM made WHERE id > {ROWS // 2}",
            "COMMIT",
        ])
        assert connection.run("SELECT count(*), min(u), max(u), max(word) FROM made") == [[str(ROWS // 2), "2", str(ROWS // 2 + 1), "x"]]
        check_indexes(connection, "made")
        # Taken back, nothing is left.
        connection.run("BEGIN; CREATE TABLE gone (id integer PRIMARY KEY, n integer)")
        connection.run(f"INSERT INTO gone SELECT g, g FROM generate_series(1, {ROWS}) g")
        connection.run("UPDATE gone SET n = 0")
        connection.run("ROLLBACK")
    with redis.connect() as raw:
        assert raw.keys("gone:*") == []


def test_definitions_together_with_many_rows(make_redis, make_server):
    with fresh(make_redis, make_server) as (redis, connection):
        check_steps(redis, connection, [
            "BEGIN",
            f"INSERT INTO parent SELECT g, g, g, 'w' || g % 7 FROM generate_series(1, {ROWS}) g; SET CONSTRAINTS ALL IMMEDIATE",
            f"INSERT INTO apart SELECT g, g FROM generate_series(1, {ROWS}) g",
            "CREATE TABLE made (id integer)",
            "COMMIT",
            "BEGIN",
            "ALTER TABLE parent ADD COLUMN slug text",
            "UPDATE parent SET slug = 's' || id",
            "CREATE UNIQUE INDEX ON parent (slug)",
            "ALTER TABLE parent ALTER COLUMN slug SET NOT NULL",
            "UPDATE parent SET u = u + 1",
            "INSERT INTO child SELECT g, g FROM generate_series(1, 1500) g",
            "COMMIT",
        ])
        assert connection.run("SELECT count(*), min(u), count(DISTINCT slug) FROM parent") == [[str(ROWS), "2", str(ROWS)]]
        check_indexes(connection, "parent", "child", "apart")


def test_unique_values_of_rows_that_expire(make_redis, make_server):
    """Only one script for all rows could exchange them: refused beyond what one may write."""
    with fresh(make_redis, make_server) as (redis, connection):
        connection.run("CREATE TABLE brief (id integer PRIMARY KEY, u integer UNIQUE) WITH (ttl = '1 hour')")
        connection.run(f"INSERT INTO brief SELECT g, g FROM generate_series(1, {ROWS}) g")
        connection.run(f"BEGIN; UPDATE brief SET u = {ROWS} + 1 - u WHERE id <= 500 OR id > {ROWS} - 500; COMMIT")
        connection.run("BEGIN")
        connection.run("UPDATE brief SET u = -u")
        for half in ("id <=", "id >"):  # rows that exchange values are far from each other
            connection.run(f"UPDATE brief SET u = {ROWS} + 1 + u WHERE {half} {ROWS} / 2")
        assert connection.run_error("COMMIT")["C"] == "54000"
        assert connection.run(f"SELECT count(*) FROM brief WHERE u + id = {ROWS} + 1") == [["1000"]]
        check_indexes(connection, "brief")
