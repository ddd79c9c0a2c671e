"""Another program makes a key of a table one of another Redis type: errors name the key and the statement that mends it."""
from harness.pgwire import ServerError

TABLE = """
CREATE TABLE {0} (id serial PRIMARY KEY, name text NOT NULL, dept int, u text UNIQUE);
CREATE INDEX ON {0} (dept);
INSERT INTO {0} (name, dept, u) SELECT 'n' || g, nullif(g % 3, 2), 'u' || g FROM generate_series(1, 9) g
"""
# The key behind the table's prefix, and a statement that meets it.
STRUCTURES = [
    ("zset", "SELECT count(*) FROM {0} WHERE name <> ''"),
    ("indices:dept", "INSERT INTO {0} (name, dept, u) VALUES ('z', 77, 'z')"),
    ("indices:dept:1", "SELECT count(*) FROM {0} WHERE dept = 1"),
    ("indices:dept:%N", "SELECT count(*) FROM {0} WHERE dept IS NULL"),
    ("zset:dept", "SELECT max(dept) FROM {0}"),
    ("uniques:u", "SELECT name FROM {0} WHERE u = 'u3'"),
]


def failure(connection, sql):
    try:
        connection.run(sql)
    except ServerError as error:
        return error.fields
    raise AssertionError(f"{sql} did not fail")


def differences(connection, table):
    return connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")


def test_structures_of_another_type(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        for number, (suffix, sql) in enumerate(STRUCTURES):
            table = f"wrong{number}"
            key = f"{table}:{suffix}"
            connection.run(TABLE.format(table))
            rows = connection.run(f"SELECT * FROM {table} ORDER BY id")
            raw("DEL", key)
            raw("SET", key, "junk")
            error = failure(connection, sql.format(table))
            assert error["C"] == "XX001" and f'key "{key}" is a Redis string' in error["M"], error
            assert error["H"].startswith(f"REINDEX TABLE {table} "), error
            assert differences(connection, table), key
            connection.run(f"REINDEX TABLE {table}")
            assert differences(connection, table) == [], (key, differences(connection, table))
            assert connection.run(f"SELECT * FROM {table} ORDER BY id") == rows, key
            connection.run(sql.format(table))
            connection.run(f"INSERT INTO {table} (name, dept, u) VALUES ('new', 1, 'new')")
            assert connection.run(f"SELECT count(*) FROM {table} WHERE dept = 1") == [["4"]], key
            assert connection.run(f"SELECT name FROM {table} WHERE u = 'new'") == [["new"]], key
            assert failure(connection, f"INSERT INTO {table} (name, u) VALUES ('again', 'u3')")["C"] == "23505"
            assert differences(connection, table) == [], key


def test_an_overwritten_row(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        connection.run(TABLE.format("lost"))
        raw("DEL", "lost:7")
        raw("RPUSH", "lost:7", "a")
        for sql in ("SELECT * FROM lost WHERE id = 7", "UPDATE lost SET name = 'x' WHERE id = 7", "DELETE FROM lost WHERE id = 7"):
            error = failure(connection, sql)
            assert error["C"] == "XX001" and 'key "lost:7" is a Redis list, but table "lost" needs a hash there' in error["M"], error
            assert "REINDEX TABLE lost takes it out of the table" in error["H"], error
        assert ["row", "lost:7"] in [row[:2] for row in differences(connection, "lost")]
        connection.run("REINDEX TABLE lost")
        assert [row[:2] for row in differences(connection, "lost")] == [["unknown", "lost:7"]]
        assert raw("LLEN", "lost:7") == 1
        assert connection.run("SELECT count(*) FROM lost") == [["8"]] and connection.run("SELECT count(*) FROM lost WHERE dept = 1") == [["2"]]
        assert failure(connection, "SELECT * FROM lost WHERE id = 7")["C"] == "XX001"  # the key of that row is another program's
        connection.run("INSERT INTO lost (id, name, u) VALUES (70, 'n', 'u7')")  # the unique value is free again
        assert failure(connection, "INSERT INTO lost (id, name) VALUES (7, 'n')")["C"] == "XX001"
        raw("DEL", "lost:7")
        connection.run("INSERT INTO lost (id, name) VALUES (7, 'n')")


def test_counters_of_another_type(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        connection.run(TABLE.format("counted"))
        raw("DEL", "counted:id")
        raw("SADD", "counted:id", "junk")
        error = failure(connection, "INSERT INTO counted (name) VALUES ('z')")
        assert error["C"] == "XX001" and error["H"].startswith("SELECT setval('counted_id_seq', "), error
        connection.run("SELECT setval('counted_id_seq', 9)")
        assert connection.run("INSERT INTO counted (name) VALUES ('z') RETURNING id") == [["10"]]
        connection.run("CREATE TABLE hidden (a int); INSERT INTO hidden SELECT generate_series(1, 5)")
        raw("DEL", "hidden:rowid")
        raw("SADD", "hidden:rowid", "junk")
        error = failure(connection, "INSERT INTO hidden VALUES (6)")
        assert error["C"] == "XX001" and 'key "hidden:rowid" is a Redis set' in error["M"] and "REINDEX TABLE hidden" in error["H"], error
        connection.run("REINDEX TABLE hidden")
        connection.run("INSERT INTO hidden VALUES (6)")
        assert connection.run("SELECT count(*), max(a) FROM hidden") == [["6", "6"]]
