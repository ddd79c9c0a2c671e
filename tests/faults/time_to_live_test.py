"""Rows that expire, over two processes: nobody sees an entry without its row, whoever removes what is left, and whoever is killed."""
import time

from harness.pgwire import ServerError

CONCURRENT = True
ROWS = 6_000
TABLE = """
    CREATE TABLE visit (id integer PRIMARY KEY, page integer NOT NULL, mail text UNIQUE, seen timestamptz, until timestamptz)
        WITH (ttl_column = 'until');
    CREATE INDEX visit_page ON visit (page);
    CREATE INDEX visit_seen ON visit (seen);
"""


def due(raw):
    return raw("ZCARD", "visit:zset:%ttl")


def fill(connection, seconds, first=1):
    connection.run(f"INSERT INTO visit SELECT g, g % 100, 'm' || g, now(), date_trunc('second', now()) + interval '{seconds} seconds' "
                   f"FROM generate_series({first}, {first + ROWS - 1}) AS s(g)")


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.005)


def test_a_killed_sweeper_leaves_the_rest_to_another(make_server, make_redis):
    redis = make_redis()
    first, second = make_server(redis=redis), make_server(redis=redis)
    with second.connect() as connection, redis.connect() as raw:
        first.connect().run(TABLE)
        fill(connection, 10)
        assert due(raw) == ROWS
        kills = 0
        while kills < 3:
            wait_for(lambda: due(raw) < ROWS)  # somebody is at it
            if due(raw) == 0:
                break
            first.kill()
            kills += 1
            assert connection.run("SELECT count(*), count(page), max(seen) FROM visit WHERE page BETWEEN 0 AND 99 AND mail > ''") == [["0", "0", None]]
            first.start()
            first.connect()
        wait_for(lambda: due(raw) == 0)
        assert connection.run("SELECT * FROM redquel.check_indexes('visit')") == []
        assert raw("KEYS", "visit:*") == [], "of an empty table nothing is left"
        assert raw("SCARD", "redquel:expiring") == 0


def test_keys_and_values_of_expired_rows_are_free(make_server, make_redis):
    redis = make_redis()
    servers = make_server(redis=redis), make_server(redis=redis)
    with servers[0].connect() as a, servers[1].connect() as b:
        a.run(TABLE)
        for turn in range(4):
            # Each has the keys and unique values of one that has just gone, in other places of the indexes.
            a.run(f"INSERT INTO visit SELECT g, {turn}, 'm' || g, now(), now() + interval '150 milliseconds' FROM generate_series(1, 200) AS s(g)")
            assert b.run("SELECT count(*), count(DISTINCT page), min(page) FROM visit") == [["200", "1", str(turn)]]
            try:
                b.run("INSERT INTO visit (id, page, mail) VALUES (-1, 0, 'm7')")
                raise AssertionError("the value is taken")
            except ServerError as error:
                assert error.sqlstate == "23505", error
            time.sleep(0.2)
            assert b.run("SELECT count(*) FROM visit") == [["0"]]
            assert b.run(f"SELECT id FROM visit WHERE page = {turn}") == []
        b.run("INSERT INTO visit (id, page, mail) VALUES (7, 50, 'm8')")
        time.sleep(2.5)
        assert a.run("SELECT id, page, mail, redquel.ttl('visit', id) FROM visit") == [["7", "50", "m8", None]]
        assert a.run("SELECT * FROM redquel.check_indexes('visit')") == []


def test_somebody_else_changes_the_expiry(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE item (id integer PRIMARY KEY, kind text) WITH (ttl = '300 milliseconds'); CREATE INDEX item_kind ON item (kind)")
        connection.run("INSERT INTO item VALUES (1, 'kept'), (2, 'longer'), (3, 'deleted'), (4, 'gone')")
        raw("PERSIST", "item:1")
        raw("PEXPIRE", "item:2", 3000)
        raw("DEL", "item:3")
        assert connection.run("SELECT kind, redquel.ttl('item', id) > interval '1 second' FROM item ORDER BY id") == [["kept", None], ["longer", "t"], ["gone", "f"]]
        time.sleep(2)
        assert connection.run("SELECT kind FROM item WHERE kind > '' ORDER BY id") == [["kept"], ["longer"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('item')") == []
        time.sleep(3)
        assert connection.run("SELECT kind FROM item WHERE kind > '' ORDER BY id") == [["kept"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('item')") == []
