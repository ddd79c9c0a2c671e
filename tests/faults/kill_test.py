"""redquel or its Redis is killed in the middle of things; afterwards nothing is half done.

Every write here is one statement of GROUP rows that carry the same number, so that half of a statement can be seen.
"""
import os
import signal
import threading
import time

from harness.pgwire import ConnectionClosed, ServerError, query
from harness.servers import run_when_it_is_back, wait_until_gone
from harness.visitors import LOST

CONCURRENT = True
GROUP = 50
TABLE = """
    CREATE TABLE fault (id integer PRIMARY KEY, batch integer NOT NULL, n integer NOT NULL, word text UNIQUE, note text);
    CREATE INDEX fault_batch ON fault USING hash (batch);
    CREATE INDEX fault_n ON fault (n);
    CREATE INDEX fault_note ON fault (note);
    CREATE INDEX fault_batch_n ON fault USING zset (batch, n);
    CREATE INDEX fault_n_note ON fault USING zset (n, note);
"""


class Writer(threading.Thread):
    """Inserts and changes batches of its own until the server is gone; remembers what was acknowledged."""

    def __init__(self, server, number):
        super().__init__(daemon=True)
        self.server = server
        self.number = number
        self.inserted, self.changed, self.tried = set(), {}, set()
        self.trouble = None
        self.stop = threading.Event()

    def run(self):
        try:
            with self.server.connect() as connection:
                for turn in range(100_000):
                    if self.stop.is_set():
                        return
                    batch = self.number * 100_000 + turn
                    self.tried.add(batch)
                    connection.run(f"INSERT INTO fault SELECT {batch} * {GROUP} + g, {batch}, g, 'w' || ({batch} * {GROUP} + g), NULL "
                                   f"FROM generate_series(0, {GROUP - 1}) AS s(g)")
                    self.inserted.add(batch)
                    if turn % 3 == 2:
                        self.changed[batch] = "asked"
                        connection.run(f"UPDATE fault SET n = n + 1000, note = 'changed' WHERE batch = {batch}")
                        self.changed[batch] = "done"
        except (ConnectionClosed, OSError):
            pass
        except ServerError as error:
            if error.sqlstate not in LOST:
                self.trouble = error
        except Exception as error:  # told by the test
            self.trouble = error


def write_until(server, breaking, writers=4, seconds=1.0):
    crew = [Writer(server, number) for number in range(writers)]
    for writer in crew:
        writer.start()
    time.sleep(seconds)
    breaking()
    for writer in crew:
        writer.stop.set()
        writer.join(150)
        assert not writer.is_alive(), "a session hangs"
        assert not writer.trouble, writer.trouble
    return crew


def check(server, crew, acknowledged_survive=True):
    with server.connect() as connection:
        found = run_when_it_is_back(connection, "SELECT * FROM redquel.check_indexes('fault')")
        assert found == [], found[:5]
        sizes = {int(batch): (int(rows), int(notes), int(low)) for batch, rows, notes, low in
                 connection.run("SELECT batch, count(*), count(note), min(n) FROM fault GROUP BY batch")}
    for batch, (rows, notes, low) in sizes.items():
        assert rows == GROUP, f"{rows} rows of batch {batch}"
        assert (notes, low) in ((0, 0), (GROUP, 1000)), f"batch {batch} is half changed: {notes} notes, least n {low}"
    for writer in crew:
        assert not acknowledged_survive or writer.inserted <= set(sizes), f"lost: {sorted(writer.inserted - set(sizes))[:5]}"
        for batch, state in writer.changed.items():
            if state == "done" and acknowledged_survive:
                assert sizes[batch][1] == GROUP, f"the change of batch {batch} is lost"
        strangers = {batch for batch in sizes if batch // 100_000 == writer.number} - writer.tried
        assert not strangers, strangers


def test_redquel_killed_while_writing(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run(TABLE)
    crew = []
    for turn in range(3):
        crew = write_until(server, server.kill, seconds=0.4 + 0.3 * turn)
        server.start()
        check(server, crew)
        with server.connect() as connection:
            connection.run("DELETE FROM fault")


def test_embedded_redquel_killed_while_writing(make_server):
    server = make_server()
    with server.connect() as connection:
        connection.run(TABLE)
    child = server.embedded_redis
    crew = write_until(server, server.kill)
    server.start()
    assert wait_until_gone(child, 60), "the Redis of the killed redquel still runs beside the new one"
    check(server, crew)


def test_embedded_redis_killed_while_writing(make_server):
    """redquel starts it again. The append-only file is written every second: the last second may be lost, halves may not."""
    server = make_server()
    with server.connect() as connection:
        connection.run(TABLE)
    for _ in range(2):
        child = server.embedded_redis
        crew = write_until(server, lambda: os.kill(child, signal.SIGKILL))
        with server.connect() as connection:
            run_when_it_is_back(connection, "SELECT count(*) FROM fault")
        server.embedded_redis = server._child()
        check(server, crew, acknowledged_survive=False)
        with server.connect() as connection:
            run_when_it_is_back(connection, "DELETE FROM fault")


def test_redis_goes_and_comes_back(make_server, make_redis):
    redis = make_redis("--appendonly", "yes", "--appendfsync", "always")
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run(TABLE)
        connection.run("INSERT INTO fault VALUES (1, 1, 1, 'one', NULL)")
        redis.process.stop()
        error = connection.run_error("SELECT * FROM fault WHERE id = 1")
        assert error["C"] in LOST, error
        assert connection.run("SELECT 1 + 1") == [["2"]], "a statement that needs no Redis"
        redis.start()
        found = run_when_it_is_back(connection, "SELECT word FROM fault WHERE id = 1")
        assert found == [["one"]], f"the session survives, and its row: {found}"


def test_sessions_wait_for_a_stopped_redis(make_server, make_redis):
    """SIGSTOP: no answer, no error. Statements wait; after SIGCONT they are answered."""
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run(TABLE)
        redis.process.send_signal(signal.SIGSTOP)
        timer = threading.Timer(1.0, redis.process.send_signal, (signal.SIGCONT,))
        timer.start()
        connection.run("INSERT INTO fault VALUES (1, 1, 1, 'one', NULL)")
        timer.join()
        assert connection.run("SELECT count(*) FROM fault") == [["1"]]


def test_cancel_while_redis_is_stopped(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run(TABLE)
        connection.run("SELECT * FROM fault")
        redis.process.send_signal(signal.SIGSTOP)
        try:
            connection.send(query("SELECT * FROM fault WHERE n > 0"))
            while not connection.has_input(3):  # one that comes before the statement does nothing
                connection.cancel()
            error = connection.results()[-1].error
            assert error["C"] == "57014", error
        finally:
            redis.process.send_signal(signal.SIGCONT)
        found = connection.run("SELECT count(*) FROM fault")
        assert found == [["0"]], found


def test_redis_out_of_memory(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run(TABLE)
        with redis.connect() as raw:
            raw("CONFIG", "SET", "maxmemory", str(int(raw.info("memory")["used_memory"]) + (3 << 20)))
        refused = 0
        for batch in range(200):
            try:
                connection.run(f"INSERT INTO fault SELECT {batch} * {GROUP} + g, {batch}, g, 'w' || ({batch} * {GROUP} + g), NULL "
                               f"FROM generate_series(0, {GROUP - 1}) AS s(g)")
            except ServerError as error:
                assert error.sqlstate == "53200", error
                refused += 1
        assert refused
        with redis.connect() as raw:  # without memory Redis refuses even reads inside MULTI, which the checker needs
            raw("CONFIG", "SET", "maxmemory", "0")
        assert connection.run("SELECT DISTINCT count(*) FROM fault GROUP BY batch") == [[str(GROUP)]]
        assert connection.run("SELECT * FROM redquel.check_indexes('fault')") == []


def test_temporary_tables_of_a_killed_redquel(make_server, make_redis):
    """They go with the next session's first temporary table, once the lease of the killed process is over."""
    server = make_server(redis=make_redis())
    connection = server.connect()
    connection.run("CREATE TEMP TABLE left_behind (id integer PRIMARY KEY, word text UNIQUE)")
    connection.run("INSERT INTO left_behind SELECT i, 'w' || i FROM generate_series(1, 100) AS i")
    server.kill()
    server.start()
    with server.redis_connection() as raw:
        assert any("left_behind" in key for key in raw.keys())
        for key in raw.keys("redquel:process:*"):
            raw("DEL", key)
    with server.connect() as connection:
        connection.run("BEGIN")
        connection.run("CREATE TEMP TABLE fresh (id integer)")
        connection.run("COMMIT")
        assert connection.run("SELECT relname FROM pg_class WHERE relpersistence = 't'") == [["fresh"]]
    with server.redis_connection() as raw:
        assert not any("left_behind" in key for key in raw.keys())
