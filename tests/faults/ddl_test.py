"""Tables and indexes whose making or dropping is cut short, and several redquels over one Redis."""
import threading
import time

from harness.crew import crew
from harness.pgwire import ConnectionClosed
from harness.waiting import wait_for

ROWS = 30_000


def fill(connection, rows=ROWS):
    connection.run("CREATE TABLE cut (id integer PRIMARY KEY, a integer NOT NULL, b text UNIQUE)")
    for start in range(0, rows, 10_000):
        connection.run(f"INSERT INTO cut SELECT g, g % 100, 'b' || g FROM generate_series({start + 1}, {start + 10_000}) AS s(g)")


def run_and_kill(server, sql, delay):
    """Starts the statement and kills redquel `delay` seconds later; whether it had been acknowledged."""
    with server.connect() as connection:
        done = threading.Event()

        def run():
            try:
                connection.run(sql)
                done.set()
            except (ConnectionClosed, OSError):
                pass

        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(delay)
        server.kill()
        thread.join()
    return done.is_set()


def leftovers(redis, prefix):
    with redis.connect() as raw:
        return [key for key in raw.keys(prefix + "*") if key == prefix or key.startswith((prefix + ":", prefix + "~"))]


def wait_for_none(redis, prefix):
    wait_for(lambda: leftovers(redis, prefix) == [], what=f"the end of the keys of {prefix}")


def test_rows_that_are_called_by_their_new_key_stay(make_server, make_redis):
    redis = make_redis()
    with make_server(redis=redis).connect() as connection, redis.connect() as raw:
        connection.run("CREATE TABLE cut (id integer NOT NULL, a integer)")
        connection.run(f"INSERT INTO cut SELECT g, g % 100 FROM generate_series(1, {ROWS}) AS s(g)")
        raw("CONFIG", "RESETSTAT")
        connection.run("ALTER TABLE cut ADD PRIMARY KEY (id)")
        commands = raw("INFO", "commandstats")
        unlinked = int(commands.split("cmdstat_unlink:calls=")[1].split(",")[0])
        assert "cmdstat_copy" not in commands and unlinked < 100, commands  # none for a row
        assert raw("HGET", f"cut:{ROWS}", "id") == str(ROWS)
        assert raw("EXISTS", "cut:rowid") == 0
        assert connection.run("SELECT * FROM redquel.check_indexes('cut')") == []


def test_drop_table_deletes_all_keys(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        fill(connection)
        connection.run("CREATE INDEX cut_a ON cut (a); CREATE INDEX cut_ab ON cut (a, b)")
        connection.run("DROP TABLE cut")
    wait_for_none(redis, "cut")


def test_drop_table_cut_short(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    for delay in (0.0, 0.005, 0.03, 0.1):
        with server.connect() as connection:
            fill(connection, 20_000)
            connection.run("CREATE INDEX cut_a ON cut (a)")
        acknowledged = run_and_kill(server, "DROP TABLE cut", delay)
        server.start()
        with server.connect() as connection:
            there = connection.query("SELECT count(*) FROM cut")[-1]
            if there.error:
                assert there.sqlstate == "42P01", there.error
            else:
                assert not acknowledged and there.texts() == [["20000"]], "half a table"
                assert connection.run("SELECT * FROM redquel.check_indexes('cut')") == []
                connection.run("DROP TABLE cut")
            connection.run("VACUUM")
        wait_for_none(redis, "cut")


def test_create_index_cut_short(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        fill(connection)
    for delay in (0.0, 0.01, 0.05, 0.15):
        acknowledged = run_and_kill(server, "CREATE INDEX cut_a ON cut (a)", delay)
        server.start()
        with server.connect() as connection:
            connection.run("VACUUM")
            assert connection.run("SELECT count(*) FROM cut WHERE a = 7") == [[str(ROWS // 100)]]
            assert connection.run("SELECT * FROM redquel.check_indexes('cut')") == []
            dropped = connection.query("DROP INDEX cut_a")[-1]
            assert dropped.tag or (dropped.sqlstate == "42704" and not acknowledged), dropped.error


def test_truncate_cut_short(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    for delay in (0.0, 0.01, 0.05):
        with server.connect() as connection:
            connection.run("DROP TABLE IF EXISTS cut")
            fill(connection, 20_000)
        acknowledged = run_and_kill(server, "TRUNCATE cut", delay)
        server.start()
        with server.connect() as connection:
            count = connection.run("SELECT count(*) FROM cut")[0][0]
            assert count == "0" or (count == "20000" and not acknowledged), count
            assert connection.run("SELECT * FROM redquel.check_indexes('cut')") == []


def test_a_dropped_name_is_free_at_once(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        fill(connection, 10_000)
        connection.run("DROP TABLE cut")
        connection.run("CREATE TABLE cut (id integer PRIMARY KEY, a integer)")
        assert connection.run("SELECT count(*) FROM cut") == [["0"]]
        connection.run("INSERT INTO cut VALUES (1, 1)")
        time.sleep(0.5)
        assert connection.run("SELECT * FROM cut") == [["1", "1"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('cut')") == []


def test_two_redquels_see_each_others_tables(make_server, make_redis):
    redis = make_redis()
    one, two = make_server(redis=redis), make_server(redis=redis)
    with one.connect() as a, two.connect() as b:
        a.run("CREATE TABLE shared (id integer PRIMARY KEY, v text)")
        b.run("INSERT INTO shared VALUES (1, 'from b')")
        assert a.run("SELECT v FROM shared WHERE id = 1") == [["from b"]]
        b.run("ALTER TABLE shared ADD COLUMN w integer")
        a.run("UPDATE shared SET w = 5")
        assert b.run("SELECT * FROM shared") == [["1", "from b", "5"]]
        a.run("CREATE INDEX shared_w ON shared (w)")
        b.run("INSERT INTO shared VALUES (2, 'two', 6)")
        assert a.run("SELECT id FROM shared WHERE w = 6") == [["2"]]
        b.run("ALTER TABLE shared RENAME COLUMN v TO word")
        assert a.run("SELECT word FROM shared ORDER BY id") == [["from b"], ["two"]]
        assert a.run("SELECT * FROM redquel.check_indexes('shared')") == []
        b.run("DROP TABLE shared")
        assert a.run_error("SELECT * FROM shared")["C"] == "42P01"


def test_values_taken_ahead_by_sessions_of_two_redquels(make_server, make_redis):
    redis = make_redis()
    one, two = make_server(redis=redis), make_server(redis=redis)
    with one.connect() as a, two.connect() as b, redis.connect() as raw:
        def next_of(connection):
            return connection.run("SELECT nextval('ahead')")[0][0]

        a.run("CREATE SEQUENCE ahead CACHE 10; CREATE TABLE numbered (id integer GENERATED ALWAYS AS IDENTITY (CACHE 10) PRIMARY KEY)")
        assert [next_of(a), next_of(b), next_of(a), next_of(b)] == ["1", "11", "2", "12"]
        assert raw("GET", "ahead:id") == "20"
        b.run("ALTER SEQUENCE ahead RESTART WITH 100")
        assert [next_of(a), next_of(b), next_of(a)] == ["100", "110", "101"]
        b.run("BEGIN; ALTER SEQUENCE ahead RESTART WITH 200")
        assert next_of(a) == "102"
        b.run("COMMIT")
        assert [next_of(a), next_of(b)] == ["200", "210"]
        b.run("ALTER SEQUENCE ahead INCREMENT 5")
        assert [next_of(a), next_of(b)] == ["224", "274"]
        for connection in (a, b, a):
            connection.run("INSERT INTO numbered DEFAULT VALUES")
        assert a.run("SELECT id FROM numbered ORDER BY id") == [["1"], ["2"], ["11"]]
        b.run("TRUNCATE numbered RESTART IDENTITY")
        for connection in (a, b, a):
            connection.run("INSERT INTO numbered DEFAULT VALUES")
        assert a.run("SELECT id FROM numbered ORDER BY id") == [["1"], ["2"], ["11"]]
        one.kill()
        one.start()
        with one.connect() as anew:
            assert next_of(anew) == "324"  # no sequence gets the values that a killed process had left


def test_ddl_beside_writers_of_another_redquel(make_server, make_redis):
    redis = make_redis()
    one, two = make_server(redis=redis), make_server(redis=redis)
    with one.connect() as connection:
        connection.run("CREATE TABLE busy (id integer PRIMARY KEY, a integer NOT NULL)")
    stop = threading.Event()

    def write(number):
        with (one, two)[number % 2].connect() as connection:
            while not stop.is_set():
                connection.run(f"INSERT INTO busy VALUES ({number}, {number % 10})")
                connection.run(f"UPDATE busy SET a = a + 1 WHERE id = {number}")
                number += 4

    with crew(write, 4):
        try:
            with two.connect() as connection:
                for turn in range(5):
                    connection.run(f"CREATE INDEX busy_a{turn} ON busy (a)")
                    time.sleep(0.1)
                    if turn % 2:
                        connection.run(f"DROP INDEX busy_a{turn}")
        finally:
            stop.set()
    with one.connect() as connection:
        assert connection.run("SELECT * FROM redquel.check_indexes('busy')") == []
        found = [connection.run(f"SELECT count(*) FROM busy WHERE {condition}") for condition in ("a = 5", "a + 0 = 5")]
        assert found[0] == found[1], found


def test_rows_without_a_key_conflict_with_a_changed_definition(server):
    """An INSERT into a table without a key locks nothing: what waits for the commit must not be read as the new definition has it."""
    alterations = ("ADD COLUMN e text", "ALTER COLUMN d TYPE integer USING 1", "DROP COLUMN d", "RENAME d TO e")
    looks = ("SELECT * FROM keyless", "UPDATE keyless SET c = 2", "INSERT INTO keyless VALUES (2)", "DELETE FROM keyless", "COMMIT")
    with server.connect() as writer, server.connect() as other:
        for alteration in alterations:
            for look in looks:
                other.run("DROP TABLE IF EXISTS keyless; CREATE TABLE keyless (c integer, d text)")
                writer.run("BEGIN; INSERT INTO keyless VALUES (1, 'a')")
                other.run(f"ALTER TABLE keyless {alteration}")
                # An INSERT asks Redis nothing: it is the COMMIT that is told.
                answer = writer.query(look)[-1].sqlstate or writer.query("COMMIT")[-1].sqlstate
                assert answer == "40001", (alteration, look)
                writer.run("ROLLBACK")
