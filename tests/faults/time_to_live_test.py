"""Rows that expire, over two processes: no session sees an entry without its row, whichever process removes the entries or is killed."""
from harness.pgwire import ServerError
from harness.waiting import wait_for

CONCURRENT = True
SLOW = True
ROWS = 6_000
# Long enough to see a row alive, on a machine where any process may stand still for seconds.
LIFE = 8  # seconds
TABLE = """
    CREATE TABLE visit (id integer PRIMARY KEY, page integer NOT NULL, mail text UNIQUE, seen timestamptz, until timestamptz)
        WITH (ttl_column = 'until');
    CREATE INDEX visit_page ON visit (page);
    CREATE INDEX visit_seen ON visit (seen);
    CREATE INDEX visit_page_seen ON visit USING zset (page, seen);
    CREATE INDEX visit_page_mail ON visit USING zset (page, mail);
    CREATE INDEX visit_parts ON visit USING gin (string_to_array(mail, '1'));
"""


def due(raw):
    return raw("ZCARD", "visit:zset:%ttl")


def rows(raw):
    """Those of one statement go one after the other: each is told how long it lives when it is written."""
    return raw("KEYS", "visit:[0-9]*")


def check_indexes(connection, table):
    return connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")


def test_a_killed_sweeper_leaves_the_rest_to_another(make_server, make_redis):
    redis = make_redis()
    first, second = make_server(redis=redis), make_server(redis=redis)
    with second.connect() as connection, redis.connect() as raw:
        first.connect().run(TABLE)
        connection.run(f"INSERT INTO visit SELECT g, g % 100, 'm' || g, now(), date_trunc('second', now()) + interval '{2 * LIFE} seconds' "
                       f"FROM generate_series(1, {ROWS}) AS s(g)")
        assert due(raw) == ROWS, due(raw)
        kills = 0
        while kills < 3:
            wait_for(lambda: due(raw) < ROWS, pause=0.002)  # a sweeper is at work
            if due(raw) == 0:
                break
            first.kill()
            kills += 1
            wait_for(lambda: not rows(raw))
            found = connection.run("SELECT count(*), count(page), max(seen) FROM visit WHERE page BETWEEN 0 AND 99 AND mail > ''")
            assert found == [["0", "0", None]], found
            first.start()
            first.connect()
        wait_for(lambda: due(raw) == 0)
        wait_for(lambda: not check_indexes(connection, "visit"))
        wait_for(lambda: not raw("KEYS", "visit:*") and not raw("SCARD", "redquel:expiring"), what="an empty table of which nothing is left")


def test_keys_and_values_of_expired_rows_are_free(make_server, make_redis):
    redis = make_redis()
    servers = make_server(redis=redis), make_server(redis=redis)
    with servers[0].connect() as a, servers[1].connect() as b, redis.connect() as raw:
        a.run(TABLE)
        for turn in range(3):
            # Each has the keys and unique values of one that has just gone, in other places of the indexes.
            a.run(f"INSERT INTO visit SELECT g, {turn}, 'm' || g, now(), now() + interval '{LIFE} seconds' FROM generate_series(1, 200) AS s(g)")
            found = b.run("SELECT count(*), count(DISTINCT page), min(page) FROM visit")
            assert found == [["200", "1", str(turn)]], found
            try:
                b.run("INSERT INTO visit (id, page, mail) VALUES (-1, 0, 'm7')")
                raise AssertionError("the value is taken")
            except ServerError as error:
                assert error.sqlstate == "23505", error
            wait_for(lambda: not rows(raw), pause=0.001)
            found = b.run("SELECT count(*) FROM visit")
            assert found == [["0"]], found
            found = b.run(f"SELECT id FROM visit WHERE page = {turn}")
            assert found == [], found
        b.run("INSERT INTO visit (id, page, mail) VALUES (7, 50, 'm8')")
        wait_for(lambda: due(raw) == 0)
        found = a.run("SELECT id, page, mail, redquel.ttl('visit', id) FROM visit")
        assert found == [["7", "50", "m8", None]], found
        wait_for(lambda: not check_indexes(a, "visit"))


def test_another_program_changes_the_expiry(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection, redis.connect() as raw:
        connection.run(f"CREATE TABLE item (id integer PRIMARY KEY, kind text) WITH (ttl = '{LIFE} seconds'); CREATE INDEX item_kind ON item (kind)")
        connection.run("INSERT INTO item VALUES (1, 'kept'), (2, 'longer'), (3, 'deleted'), (4, 'gone')")
        raw("PERSIST", "item:1")
        raw("PEXPIRE", "item:2", 3 * LIFE * 1000)
        raw("DEL", "item:3")
        found = connection.run(f"SELECT kind, redquel.ttl('item', id) > interval '{LIFE} seconds' FROM item ORDER BY id")
        assert found == [["kept", None], ["longer", "t"], ["gone", "f"]], found
        for left in (["kept"], ["longer"]), (["kept"],):
            wait_for(lambda: raw("EXISTS", "item:4", "item:2") == len(left) - 1)
            found = connection.run("SELECT kind FROM item WHERE kind > '' ORDER BY id")
            assert found == list(left), found
            wait_for(lambda: not check_indexes(connection, "item"))


def test_a_row_that_gets_another_key_keeps_its_time(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    minutes = 60_000
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE visit (id int PRIMARY KEY, page int) WITH (ttl = '1 hour')")
        connection.run("INSERT INTO visit SELECT g, g FROM generate_series(1, 10) g")
        for number in range(1, 10):
            raw("PEXPIRE", f"visit:{number}", 20 * minutes)
        raw("PERSIST", "visit:10")
        connection.run("UPDATE visit SET id = 103 WHERE id = 3")
        connection.run("BEGIN")
        connection.run("UPDATE visit SET id = id + 100 WHERE id IN (1, 2, 10)")
        connection.run("UPDATE visit SET page = 0 WHERE id = 101")
        connection.run("SAVEPOINT s")
        connection.run("UPDATE visit SET id = 202 WHERE id = 102")
        connection.run("DELETE FROM visit WHERE id = 5")
        connection.run("UPDATE visit SET id = 5 WHERE id = 4")
        connection.run("INSERT INTO visit VALUES (400, 0)")
        connection.run("UPDATE visit SET id = 401 WHERE id = 400")
        connection.run("UPDATE visit SET id = id + 1000 WHERE id BETWEEN 6 AND 8")
        connection.run("COMMIT")
        left = {key: raw("PTTL", f"visit:{key}") for key in (101, 103, 202, 5, 1006, 1007, 1008, 401, 110)}
        assert left.pop(401) > 40 * minutes, left
        assert left.pop(110) == -1, left
        assert all(0 < time <= 20 * minutes for time in left.values()), left
        assert check_indexes(connection, "visit") == []
