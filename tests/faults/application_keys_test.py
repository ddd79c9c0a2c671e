"""Keys of an application stay as they are, whatever tables are made, changed and dropped beside them."""
import json

from harness.pgwire import ServerError

# Forms that keys of a table "user" would have, too, and others.
BEFORE = [
    ("HSET", "user:1", "id", "1", "name", "app", "mail", "m1"),
    ("HSET", "user:2", "name", "app2"),
    ("RPUSH", "user:888:cart", "a", "b"),
    ("ZADD", "user:zset", "1", "one"),
    ("SET", "user:id", "41"),
    ("SADD", "user:indices:name:ann", "1"),
    ("SADD", "user:indices:mail", "m1"),
    ("HSET", "user:uniques:mail", "m1", "1"),
    ("SET", "user:rowid", "x"),
    ("SET", "user", "whole"),
]
# The keys that an application may write beside a table that has the prefix already.
AFTER = [
    ("HSET", "user:1", "id", "1", "name", "app", "mail", "m1"),
    ("HSET", "user:2", "note", "app2"),
    ("SET", "user:3", "text"),
    ("RPUSH", "user:888:cart", "a", "b"),
    ("SADD", "user:indices:town:ulm", "1"),
    ("ZADD", "user:zset:age", "1", "one"),
    ("HSET", "user:uniques:phone", "m1", "1"),
    ("HSET", "user:a:b", "name", "x"),
]
TABLE = "CREATE TABLE \"user\" (id int PRIMARY KEY, name text NOT NULL, mail text UNIQUE, n serial); CREATE INDEX ON \"user\" (name)"
ROWS = "INSERT INTO \"user\" SELECT i, 'n' || i % 7, 'm' || i FROM generate_series({0}, {0} + {1}) i"


class Application:
    """The keys of an application, and whether they are as it has stored them."""

    def __init__(self, redis, commands):
        self.raw = redis.connect()
        for command in commands:
            self.raw(*command)
        self.names = [command[1] for command in commands]
        self.stored = self.dumps()

    def dumps(self):
        return {name: self.raw("DUMP", name) for name in self.names}

    def check(self, statement):
        changed = [name for name, dump in self.dumps().items() if dump != self.stored[name]]
        assert changed == [], (statement, changed)

    def others(self):
        return [key for key in self.raw.keys() if key not in self.names and not key.startswith("redquel:")]


REMOVALS = [
    "DELETE FROM \"user\" WHERE id = 1000",
    "DELETE FROM \"user\" WHERE name = 'n3'",
    "DELETE FROM \"user\"",
    "TRUNCATE \"user\"",
    "TRUNCATE \"user\" RESTART IDENTITY",
    "BEGIN; TRUNCATE \"user\" RESTART IDENTITY; INSERT INTO \"user\" VALUES (5000, 'x'); COMMIT",
    "BEGIN; TRUNCATE \"user\"; INSERT INTO \"user\" VALUES (5000, 'x'); ROLLBACK",
    "ALTER TABLE \"user\" ALTER COLUMN name TYPE varchar(100)",
    "ALTER TABLE \"user\" ALTER COLUMN id TYPE bigint",
    "BEGIN; ALTER TABLE \"user\" ALTER COLUMN id TYPE bigint; ROLLBACK",
    "BEGIN; ALTER TABLE \"user\" ALTER COLUMN id TYPE bigint; COMMIT",
    "ALTER TABLE \"user\" DROP COLUMN mail",
    "ALTER TABLE \"user\" DROP CONSTRAINT user_pkey",
    "ALTER TABLE \"user\" DROP CONSTRAINT user_mail_key; ALTER TABLE \"user\" ADD UNIQUE (mail)",
    "DROP INDEX user_name_idx; CREATE INDEX ON \"user\" (name)",
    "REINDEX TABLE \"user\"",
    "ALTER TABLE \"user\" RENAME TO people; DROP TABLE people",
    "CREATE SCHEMA elsewhere; ALTER TABLE \"user\" SET SCHEMA elsewhere; DROP SCHEMA elsewhere CASCADE",
    "BEGIN; DROP TABLE \"user\"; CREATE TABLE \"user\" (a int); COMMIT",
    "BEGIN; CREATE TABLE more AS SELECT * FROM \"user\"; ROLLBACK",
    "CREATE ROLE leaver; ALTER TABLE \"user\" OWNER TO leaver; DROP OWNED BY leaver; DROP ROLE leaver",
    "VACUUM",
]


def check_removal(connection, application, removal, statements):
    """Runs the statements, then drops the table; the application's keys stay after both."""
    for statement in statements:
        for result in connection.query(statement):
            assert not result.error or result.sqlstate == "0A000", (statement, result.error)
    application.check(removal)
    for name in ("\"user\"", "people", "elsewhere.\"user\""):
        if connection.run(f"SELECT to_regclass('{name}')") != [[None]]:
            connection.run(f"DROP TABLE {name}")
    connection.run("DROP SCHEMA IF EXISTS elsewhere CASCADE")
    application.check("DROP TABLE after " + removal)


def test_statements_that_remove_leave_the_keys_that_were_there_before(make_server, make_redis):
    redis = make_redis()
    application = Application(redis, BEFORE)
    with make_server(redis=redis).connect() as connection:
        for removal in REMOVALS:
            made = connection.query(TABLE)
            assert made[0].error is None and [notice["M"] for notice in made[0].notices] == ["keys of \"user\" begin with \"user~2:\""], made[0]
            assert made[0].notices[0]["D"] == "Another program has keys that begin with \"user:\".", made[0].notices
            connection.run(ROWS.format(1, 3000))
            check_removal(connection, application, removal, removal.split("; "))
            assert application.others() == [], (removal, application.others())


def test_statements_that_remove_leave_keys_that_came_later(make_server, make_redis):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection:
        for removal in REMOVALS:
            result = connection.query(TABLE)
            assert result[0].error is None and result[0].notices == [], (removal, result[0])
            connection.run(ROWS.format(100, 12_000 if "TRUNCATE" in removal and "BEGIN" not in removal else 3000))
            application = Application(redis, AFTER)
            # The hash that looks like a row is one only where SQL has been told so.
            statements = [s for s in removal.split("; ") if s != "REINDEX TABLE \"user\""]
            check_removal(connection, application, removal, statements)
            assert application.others() == [], (removal, application.others())
            application.raw("DEL", *application.names)


def error_of(connection, sql, data=b""):
    result = connection.query(sql, data)[-1]
    assert result.error, sql
    return result.sqlstate, result.error["M"]


def test_a_row_does_not_take_the_key_of_another_program(make_server, make_redis):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection:
        connection.run("CREATE TABLE \"user\" (id int PRIMARY KEY, name text NOT NULL, mail text UNIQUE); CREATE TABLE log (a int, b int)")
        connection.run("INSERT INTO \"user\" VALUES (100, 'x', 'y'); INSERT INTO log VALUES (1, 1)")
        application = Application(redis, AFTER + [("HSET", "log:2", "a", "7"), ("SET", "log:3", "7")])
        taken = ("XX001", "key \"user:1\" in Redis is not a row of table \"user\"")
        for statement in ("INSERT INTO \"user\" VALUES (1, 'a')",
                          "INSERT INTO \"user\" VALUES (7, 'b'), (1, 'a')",
                          "INSERT INTO \"user\" VALUES (100, 'b'), (1, 'a') ON CONFLICT DO NOTHING",
                          "INSERT INTO \"user\" SELECT i, 'x' FROM generate_series(1, 5000) i",
                          "UPDATE \"user\" SET id = 1 WHERE id = 100",
                          "UPDATE \"user\" SET id = id - 99",
                          "MERGE INTO \"user\" u USING (SELECT 1 AS id) s ON false WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'm')"):
            assert error_of(connection, statement) == taken, statement
            application.check(statement)
            assert error_of(connection, "BEGIN; " + statement) == taken, statement
            connection.run("ROLLBACK")
            application.check("in a transaction: " + statement)
        assert error_of(connection, "COPY \"user\" FROM STDIN", b"5\ta\t\\N\n1\tb\t\\N\n") == taken
        assert error_of(connection, "INSERT INTO \"user\" VALUES (3, 'a')") == ("XX001", "key \"user:3\" in Redis is not a row of table \"user\"")
        assert error_of(connection, "INSERT INTO log VALUES (2, 2)") == ("XX001", "key \"log:2\" in Redis is not a row of table \"log\"")
        # A key that comes before the commit.
        connection.run("BEGIN; INSERT INTO \"user\" VALUES (9, 'z')")
        application.raw("HSET", "user:9", "name", "app")
        assert error_of(connection, "COMMIT")[0] == "XX001"
        assert application.raw("HGETALL", "user:9") == ["name", "app"]
        application.check("COMMIT")
        assert connection.run("SELECT count(*) FROM \"user\"") == [["1"]]
        connection.run("INSERT INTO \"user\" VALUES (100, 'again') ON CONFLICT (id) DO UPDATE SET name = excluded.name")
        assert connection.run("SELECT * FROM \"user\" WHERE name = 'again'") == [["100", "again", "y"]]


def test_rows_of_new_places_do_not_take_keys_of_another_program(make_server, make_redis):
    """Plain commands write them: an application's key must not be touched before it is found."""
    redis = make_redis()
    with make_server(redis=redis).connect() as connection:
        rows = b"".join(b"%d\ta\n" % i for i in range(1, 6001))
        connection.run("BEGIN; CREATE TABLE ahead (id int PRIMARY KEY, name text)")
        application = Application(redis, [("HSET", "ahead:5500", "name", "app"), ("SET", "ahead:x", "1")])
        assert error_of(connection, "COPY ahead FROM STDIN", rows) == ("XX001", "key \"ahead:5500\" in Redis is not a row of table \"ahead\"")
        connection.run("ROLLBACK")
        application.check("COPY")
        assert application.others() == [], application.others()
        # Twice the same key is another error, though it is found in the same way.
        connection.run("BEGIN; CREATE TABLE twice (id int PRIMARY KEY, name text)")
        assert error_of(connection, "COPY twice FROM STDIN", rows + b"17\tb\n")[0] == "23505"
        connection.run("ROLLBACK")
        assert application.others() == [], application.others()


def test_a_failed_create_table_as_leaves_existing_keys(make_server, make_redis):
    redis = make_redis()
    application = Application(redis, BEFORE)
    with make_server(redis=redis).connect() as connection:
        for statement in ("CREATE TABLE \"user\" AS SELECT 1 / (3 - i) AS x FROM generate_series(1, 5000) i",
                          "CREATE MATERIALIZED VIEW \"user\" AS SELECT 1 / (3 - i) AS x FROM generate_series(1, 5000) i",
                          "SELECT 1 / (3 - i) AS x INTO \"user\" FROM generate_series(1, 5000) i"):
            assert error_of(connection, statement)[0] == "22012"
            application.check(statement)
            assert application.others() == [], (statement, application.others())
        connection.run("CREATE MATERIALIZED VIEW \"user\" AS SELECT i FROM generate_series(1, 5000) i")
        connection.run("REFRESH MATERIALIZED VIEW \"user\"")
        connection.run("DROP MATERIALIZED VIEW \"user\"")
        connection.run("CREATE SEQUENCE \"user\"; SELECT nextval('\"user\"'); DROP SEQUENCE \"user\"")
        connection.run("CREATE TEMP TABLE \"user\" (a int); INSERT INTO \"user\" VALUES (1); DROP TABLE \"user\"")
        application.check("others")
        assert application.others() == [], application.others()


def test_an_index_does_not_take_the_key_of_another_program(make_server, make_redis):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection:
        connection.run("CREATE TABLE \"user\" (id int PRIMARY KEY, phone text, age int); INSERT INTO \"user\" VALUES (100, 'x', 1)")
        application = Application(redis, AFTER)
        for statement, key in (("CREATE UNIQUE INDEX ON \"user\" (phone)", "user:uniques:phone"), ("CREATE INDEX ON \"user\" (age)", "user:zset:age"),
                               ("ALTER TABLE \"user\" ADD UNIQUE (phone)", "user:uniques:phone")):
            assert error_of(connection, statement) == ("XX001", f"key \"{key}\" in Redis is not redquel's"), statement
            application.check(statement)
        connection.run("REINDEX TABLE \"user\"")
        application.check("REINDEX")


def test_removals_that_an_older_build_has_left(make_server, make_redis):
    """Such an entry says the prefix only. What is the table's is found by its zset and the forms of names."""
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run("CREATE TABLE old (a text, b int, c int UNIQUE, d int, PRIMARY KEY (a, b)); CREATE INDEX ON old (d); CREATE INDEX ON old (c, d)")
        connection.run("INSERT INTO old SELECT 'x:' || i, i, i, i % 5 FROM generate_series(1, 3000) i")
        connection.run("CREATE TABLE plain (a text PRIMARY KEY, b int); INSERT INTO plain SELECT 'x:' || i, i FROM generate_series(1, 3000) i")
    application = Application(redis, [("HSET", "old:1", "a", "1"), ("RPUSH", "old:888:cart", "a"), ("SET", "plain:id", "7"), ("HSET", "plain:x:1", "a", "1")])
    raw = application.raw
    for prefix in ("old", "plain"):
        for field in raw("HKEYS", "redquel:catalog"):
            definition = raw("HGET", "redquel:catalog", field)
            if field.startswith("table:") and json.loads(definition)["prefix"] == prefix:
                raw("HDEL", "redquel:catalog", field)
        raw("HSET", "redquel:removals", "entry of " + prefix, json.dumps({"prefix": prefix, "whole": True, "parts": []}))
    raw("SET", "redquel:version", "another")
    server.restart()
    with server.connect() as connection:
        connection.run("VACUUM")
        application.check("VACUUM")
        assert raw("HLEN", "redquel:removals") == 0 and raw("HLEN", "redquel:prefixes") == 0
        assert application.others() == [], application.others()


def test_a_dropped_database_leaves_keys_of_others(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as admin:
        admin.run("CREATE DATABASE shop")
        with server.connect(database="shop") as connection:
            connection.run("CREATE TABLE \"user\" (id int PRIMARY KEY, name text UNIQUE); INSERT INTO \"user\" SELECT i, i FROM generate_series(100, 3000) i")
            connection.run("CREATE SEQUENCE s; SELECT nextval('s')")
        with redis.connect() as raw:
            number = raw("HGET", "redquel:databases", "shop")
            raw("SELECT", number)
            for command in AFTER:
                raw(*command)
            before = {command[1]: raw("DUMP", command[1]) for command in AFTER}
            dropped = admin.query("DROP DATABASE shop")[-1]
            assert not dropped.error, dropped.error
            assert [notice["M"] for notice in dropped.notices] == [f"{len(AFTER)} keys of other programs stay in logical database {number} of Redis"]
            assert {key: raw("DUMP", key) for key in raw.keys()} == before
            assert admin.query("DROP DATABASE shop")[-1].sqlstate == "3D000"


def test_a_new_sequence_takes_no_counter_of_an_application(make_server, make_redis):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE member (id int PRIMARY KEY); ALTER TABLE member ADD COLUMN known serial; SELECT nextval('member_known_seq')")
        assert "member:id:known" in raw.keys()
        for sql in ("ALTER TABLE member DROP COLUMN known", "BEGIN; ALTER TABLE member ADD COLUMN known serial; ROLLBACK", "ALTER TABLE member ADD COLUMN known serial"):
            connection.run(sql)
        raw("SET", "member:id:score", "41")
        for sql in ("ALTER TABLE member ADD COLUMN score serial", "ALTER TABLE member ADD COLUMN score int GENERATED ALWAYS AS IDENTITY"):
            error = connection.run_error(sql)
            assert error["C"] == "XX001" and '"member:id:score"' in error["M"], error
        assert raw("INCR", "member:id:score") == 42
        raw("DEL", "member:id:score")
        connection.run("ALTER TABLE member ADD COLUMN score serial; INSERT INTO member (id) VALUES (1)")
        assert connection.run("SELECT score FROM member") == [["1"]]
