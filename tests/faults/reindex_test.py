"""A foreign program changes the hashes of rows: REINDEX makes the index entries right again."""
from harness.pgwire import ServerError


def differences(connection, table="stock"):
    return connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")


def prepare(connection):
    connection.run("""
        CREATE TABLE stock (id integer PRIMARY KEY, place text, amount integer, code text UNIQUE, price numeric, part integer);
        CREATE INDEX ON stock (place); CREATE INDEX ON stock (amount); CREATE INDEX ON stock (place, amount); CREATE INDEX ON stock (price);
        CREATE INDEX ON stock USING zset (place, amount); CREATE INDEX ON stock USING zset (part, code);
        INSERT INTO stock SELECT g, 'p' || g % 7, g % 11, 'c' || g, g * 1.5, g % 3 FROM generate_series(1, 3000) g""")


def test_rows_changed_by_a_foreign_program(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        prepare(connection)
        for number in range(1, 1501, 3):
            raw("HSET", f"stock:{number}", "place", "elsewhere", "amount", "99", "code", f"new{number}", "price", "0.5")
        for number in range(2, 1501, 30):
            raw("HDEL", f"stock:{number}", "place", "amount")
        raw("DEL", "stock:3000", "stock:2999")
        raw("HSET", "stock:5000", "place", "new", "code", "fresh", "part", "1", "id", "5000")
        raw("DEL", "stock:zset:amount")
        raw("SADD", "stock:indices:place:nowhere", "77", "oops")
        raw("SADD", "stock:indices:place", "never")
        assert differences(connection)
        connection.run("REINDEX TABLE stock")
        assert not differences(connection), differences(connection)
        by_index = connection.run("SELECT count(*) FROM stock WHERE place = 'elsewhere'")
        assert by_index == [["500"]], by_index
        assert connection.run("SELECT count(*) FROM stock WHERE amount = 99") == [["500"]]
        assert connection.run("SELECT id FROM stock WHERE code = 'new4'") == [["4"]]
        assert connection.run("SELECT id FROM stock WHERE code = 'c4'") == []
        assert connection.run("SELECT count(*) FROM stock") == connection.run("SELECT count(*) FROM stock WHERE id + 0 > 0")
        connection.run("INSERT INTO stock (id, code) VALUES (9000, 'c4')")


def test_two_rows_with_one_unique_value(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        connection.run("DROP TABLE IF EXISTS stock")
        prepare(connection)
        raw("HSET", "stock:5", "code", "c6")
        try:
            connection.run("REINDEX TABLE stock")
            raise AssertionError("no error")
        except ServerError as error:
            assert error.sqlstate == "23505", error
        raw("HSET", "stock:5", "code", "c5")
        connection.run("REINDEX INDEX stock_code_key")
        assert not differences(connection), differences(connection)


def reindexed(connection, table):
    """Runs REINDEX, which must end soon, and returns its result."""
    connection.run("SET statement_timeout = '20s'")
    result = connection.query(f"REINDEX TABLE {table}")[-1]
    connection.run("RESET statement_timeout")
    return result


def test_an_empty_unique_value(server, redis):
    """An empty text is a value: it names no whole key."""
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE b (id int PRIMARY KEY, mail text UNIQUE); INSERT INTO b VALUES (1, 'q'), (2, 'y')")
        damages = {"another program writes it": [("HSET", "b:1", "mail", "")],
                   "its entry is gone": [("HSET", "b:1", "mail", ""), ("DEL", "b:uniques:mail")],
                   "its entry names another row": [("HSET", "b:1", "mail", ""), ("HSET", "b:uniques:mail", "", "2")],
                   "an entry without a row": [("HSET", "b:1", "mail", "q"), ("HSET", "b:uniques:mail", "", "77")]}
        for name, commands in damages.items():
            for command in commands:
                raw(*command)
            result = reindexed(connection, "b")
            assert result.error is None, (name, result.error)
            assert differences(connection, "b") == [], name
            first = raw("HGET", "b:1", "mail")
            assert raw.hash("b:uniques:mail") == {first: "1", "y": "2"}, name
            for value in (first, "y"):
                assert connection.run_error(f"INSERT INTO b VALUES (3, '{value}')")["C"] == "23505", (name, value)


def test_an_empty_primary_key(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE e (id text PRIMARY KEY, n int, w text); CREATE INDEX ON e (n); CREATE INDEX ON e (w)")
        connection.run("INSERT INTO e VALUES ('', 1, ''), ('a', 2, 'w')")
        for command in (("ZREM", "e:zset", ""), ("SREM", "e:indices:n:1", ""), ("SREM", "e:indices:w", ""), ("DEL", "e:zset:w"),
                        ("ZADD", "e:zset:w", "0", ""), ("SADD", "e:indices:n:7", ""), ("SADD", "e:indices:n", "")):
            raw(*command)
            assert differences(connection, "e"), command
            assert reindexed(connection, "e").error is None, command
            assert differences(connection, "e") == [], command
            assert connection.run("SELECT * FROM e ORDER BY id") == [["", "1", ""], ["a", "2", "w"]], command
            assert connection.run("SELECT id FROM e WHERE n = 1") == [[""]], command


def test_a_value_is_never_free_while_its_owner_changes(server, redis):
    """An entry that names another row goes over to its row in one step: no command removes it first."""
    with server.connect() as connection, redis.connect() as raw, redis.connect() as monitor:
        connection.run("CREATE TABLE owned (id int PRIMARY KEY, mail text UNIQUE); INSERT INTO owned VALUES (1, 'q'), (2, 'y')")
        raw("HSET", "owned:uniques:mail", "y", "1")
        monitor("MONITOR")
        assert reindexed(connection, "owned").error is None
        raw("SET", "end", "here")
        seen = []
        while not seen or '"end"' not in seen[-1]:
            seen.append(monitor.next_message())
        assert not [line for line in seen if '"HDEL"' in line or '"UNLINK" "owned:uniques' in line], seen
        assert raw.hash("owned:uniques:mail") == {"q": "1", "y": "2"}


def test_reindex_mends_the_rest_before_it_reports_duplicates(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE doubled (id int PRIMARY KEY, mail text UNIQUE, n int); CREATE INDEX ON doubled (n)")
        connection.run("INSERT INTO doubled VALUES (1, 'q', 1), (2, 'y', 2), (3, 'z', 3)")
        raw("HSET", "doubled:2", "mail", "q", "n", "7")
        raw("DEL", "doubled:indices:n:3")
        error = reindexed(connection, "doubled").error
        assert error["C"] == "23505" and error["M"] == 'could not create unique index "doubled_mail_key"', error
        assert error["D"] == "Key (mail)=(q) is duplicated.", error
        assert [row[0] for row in differences(connection, "doubled")] == ["unique"], differences(connection, "doubled")
        assert connection.run("SELECT id FROM doubled WHERE n = 7") == [["2"]]
        assert connection.run_error("INSERT INTO doubled VALUES (4, 'q', 1)")["C"] == "23505"


def test_reindex_names_rows_that_it_cannot_read(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE torn (id int PRIMARY KEY, mail text UNIQUE, n int NOT NULL); INSERT INTO torn VALUES (1, 'q', 1), (2, 'y', 2)")
        raw("HSET", "torn:1", "n", "junk")
        raw("HSET", "torn:007", "n", "7")
        raw("DEL", "torn:zset")
        result = reindexed(connection, "torn")
        assert result.error is None, result.error
        named = sorted(notice["M"] for notice in result.notices if notice["S"] == "WARNING" and notice["C"] == "XX001")
        assert named == [f'key "torn:{key}" in Redis is not a row that table "torn" can read' for key in ("007", "1")], result.notices
        assert connection.run_error("INSERT INTO torn VALUES (3, 'q', 1)")["C"] == "23505"  # the entry of the unreadable row stays
        raw("HSET", "torn:1", "n", "1")
        raw("DEL", "torn:007")
        assert not reindexed(connection, "torn").notices
        assert differences(connection, "torn") == []


def test_rows_with_long_keys(server, redis):
    """Their keys hold a hash: the checker finds their members among the entries."""
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE long (id text PRIMARY KEY, n int UNIQUE, w text); CREATE INDEX ON long (w)")
        connection.run("INSERT INTO long VALUES (repeat('k', 600), 1, 'w'), (repeat('l', 600), 2, 'w')")
        raw("HDEL", "long:uniques:n", "1")
        raw("SREM", "long:indices:w:w", "l" * 600)
        assert len(differences(connection, "long")) == 2
        assert reindexed(connection, "long").error is None and differences(connection, "long") == []
        assert connection.run_error("INSERT INTO long VALUES ('x', 1)")["C"] == "23505"
        raw("ZREM", "long:zset", "k" * 600)
        assert differences(connection, "long")
        assert reindexed(connection, "long").error is None and differences(connection, "long") == []
        assert connection.run("SELECT count(*) FROM long") == [["2"]]


def test_counters_that_another_program_wrote(server, redis):
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE counted (a int); INSERT INTO counted SELECT generate_series(1, 5)")
        oid = connection.run("SELECT 'counted'::regclass::oid")[0][0]
        for key, value in (("counted:rowid", "junk"), ("counted:rowid", "007"), ("counted:rowid", "0"), ("counted:rowid", "9223372036854775807"), ("counted:rowid", None),
                           (f"redquel:changes:{oid}", "junk"), (f"redquel:changes:{oid}", "-5")):
            if value is None:
                raw("DEL", key)
            else:
                raw("SET", key, value)
            assert [row[:2] for row in differences(connection, "counted")] == [["counter", key]], (key, value)
            assert reindexed(connection, "counted").error is None
            assert differences(connection, "counted") == [], (key, value)
            connection.run("INSERT INTO counted VALUES (6); DELETE FROM counted WHERE a = 6")
