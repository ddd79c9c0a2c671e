"""A transaction that gives a table with rows another form writes them to a place of its own: no other session sees it before the commit, and
without one nothing of it stays. Writers of others wait for it, as they do for ALTER TABLE in PostgreSQL."""
import threading

from harness.keyspace import end_leases, leases
from harness.keyspace import keys_of_tables as keys
from harness.pgwire import ConnectionClosed, query
from harness.servers import sharing_redis as make

ROWS = 6_000
PLAIN = "CREATE TABLE item (id integer PRIMARY KEY, word text, part integer); CREATE INDEX ON item (part)"
MIGRATE = ("ALTER TABLE item ADD COLUMN slug text; UPDATE item SET slug = 's' || id WHERE id < 100; "
           "CREATE UNIQUE INDEX item_slug ON item (slug); ALTER TABLE item ALTER COLUMN part TYPE bigint")


def fill(connection):
    connection.run(PLAIN)
    connection.run(f"INSERT INTO item SELECT g, 'w' || g, g % 7 FROM generate_series(1, {ROWS}) g")


def check_old(connection):
    assert connection.run("SELECT count(*), sum(id), max(part) FROM item WHERE part < 7") == [[str(ROWS), str(ROWS * (ROWS + 1) // 2), "6"]]
    assert connection.run("SELECT count(*) FROM item WHERE part = 3") == [[str(len(range(3, ROWS + 1, 7)))]]
    assert connection.run_error("SELECT slug FROM item")["C"] == "42703"
    assert connection.run("SELECT * FROM redquel.check_indexes('item')") == []


def check_new(connection):
    assert connection.run("SELECT count(*), sum(id), count(slug) FROM item") == [[str(ROWS), str(ROWS * (ROWS + 1) // 2), "99"]]
    assert connection.run("SELECT id, pg_typeof(part)::text FROM item WHERE slug = 's17'") == [["17", "bigint"]]
    assert connection.run("SELECT * FROM redquel.check_indexes('item')") == []


def test_a_rollback_leaves_no_keys(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    with server.connect() as connection:
        fill(connection)
        before = keys(redis)
        for ending in ("ROLLBACK", "SELECT 1/0"):
            connection.run("BEGIN; " + MIGRATE)
            check_new(connection)
            connection.query(ending)
            connection.query("ROLLBACK")
            assert keys(redis) == before
            check_old(connection)
        # An error while the rows are on their way.
        connection.run("BEGIN")
        assert connection.run_error("CREATE UNIQUE INDEX ON item (part)")["C"] == "23505"
        connection.query("COMMIT")
        assert keys(redis) == before
        connection.run("BEGIN; SAVEPOINT a; " + MIGRATE + "; ROLLBACK TO a; INSERT INTO item VALUES (0, 'x', 1); DELETE FROM item WHERE id = 0; COMMIT")
        assert keys(redis) == before
        check_old(connection)


def test_a_commit_shows_all_of_it(make_redis, make_server):
    redis, server, other_server = make(make_redis, make_server, 2)
    with server.connect() as connection, other_server.connect() as other:
        fill(connection)
        connection.run("BEGIN; " + MIGRATE)
        check_old(other)
        connection.run("COMMIT")
        check_new(other)
        assert other.run_error("INSERT INTO item VALUES (-1, 'w', 1, 's17')")["C"] == "23505"
        _, removals, prefixes = keys(redis)
        assert removals == 0 and len(prefixes) == 1, prefixes


def test_writers_wait(make_redis, make_server):
    _, server, other_server = make(make_redis, make_server, 2)
    with server.connect() as connection, other_server.connect() as other:
        fill(connection)
        connection.run("BEGIN; " + MIGRATE)
        other.send(query("INSERT INTO item (id, word) VALUES (-1, 'waited')") + query("INSERT INTO item (id, slug) VALUES (-2, 's17')"))
        assert not other.has_input(0.5), other.results()
        connection.run("COMMIT")
        first, second = other.results()[0], other.results()[0]
        assert first.tag == "INSERT 0 1" and second.sqlstate == "23505", (first, second)
        assert other.run("SELECT id, part FROM item WHERE word = 'waited'") == [["-1", None]]
        assert other.run("SELECT * FROM redquel.check_indexes('item')") == []


def test_a_writer_before_the_statement(make_redis, make_server):
    """Rows that others have not committed yet are waited for, and seen."""
    _, server, other_server = make(make_redis, make_server, 2)
    with server.connect() as connection, other_server.connect() as other:
        fill(connection)
        other.run("BEGIN; INSERT INTO item VALUES (-5, 'w', 6)")
        connection.send(query("BEGIN; CREATE UNIQUE INDEX ON item (word); COMMIT"))
        assert not connection.has_input(0.5), connection.results()
        other.run("COMMIT")
        result = connection.results()[-1]
        assert not result.error, result.error
        assert other.run("SELECT id FROM item WHERE word = 'w' AND part = 6") == [["-5"]]
        assert other.run_error("INSERT INTO item VALUES (-6, 'w', 6)")["C"] == "23505"
        assert other.run("SELECT * FROM redquel.check_indexes('item')") == []


def test_a_killed_process(make_redis, make_server):
    redis, server, other_server = make(make_redis, make_server, 2)
    with other_server.connect() as other:
        fill(other)
        before, others = keys(redis), leases(redis)
        connection = server.connect()
        connection.run("BEGIN; " + MIGRATE)
        server.kill()
        check_old(other)
        end_leases(redis, but=others)
        other.run("VACUUM")
        assert keys(redis) == before, keys(redis)[1:]
        other.run("INSERT INTO item VALUES (0, 'free', 1); DELETE FROM item WHERE id = 0")
        other.run("BEGIN; " + MIGRATE + "; COMMIT")
        check_new(other)


def test_killed_at_any_moment(make_redis, make_server, random):
    """Whenever it is killed, the table is the old one or the new one."""
    redis, other_server = make(make_redis, make_server)
    with other_server.connect() as other:
        fill(other)
        for _ in range(6):
            server, others = make_server(redis=redis), leases(redis)
            connection = server.connect()
            killer = threading.Timer(random.uniform(0.02, 1.0), server.kill)
            killer.start()
            try:
                connection.query("BEGIN; " + MIGRATE + "; COMMIT")
            except (ConnectionClosed, OSError):
                pass
            killer.join()
            end_leases(redis, but=others)
            if other.run("SELECT count(*) FROM information_schema.columns WHERE table_name = 'item'") == [["3"]]:
                check_old(other)
            else:
                check_new(other)
                other.run("DROP TABLE item")
                fill(other)
