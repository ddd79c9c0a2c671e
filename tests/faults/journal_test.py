"""Statements of many scripts, cut short in each of their phases: all of their rows are there afterwards, or none."""
import os
import signal
import threading

from harness.pgwire import COPY_DONE, ConnectionClosed, ServerError, copy_data, query
from harness.servers import run_when_it_is_back
from harness.waiting import wait_for

CONCURRENT = True
ROWS = 16_000
TABLE = """
    CREATE TABLE bulk (id integer PRIMARY KEY, a integer, word text UNIQUE, amount numeric);
    CREATE INDEX bulk_a ON bulk (a);
    CREATE INDEX bulk_amount ON bulk (amount);
    CREATE INDEX bulk_a_amount ON bulk USING zset (a, amount);
"""


def lines(first, count, last_is_wrong=False):
    text = "".join(f"{n}\t{n % 97}\tw{n}\t{n}.5\n" for n in range(first, first + count))
    return (text + ("oops\t1\tx\t1\n" if last_is_wrong else "")).encode()


def copy_in(connection, data):
    result, = connection.query("COPY bulk FROM STDIN", data)
    if result.error:
        raise ServerError(result.error)


class Running(threading.Thread):
    """A statement on a session of its own."""

    def __init__(self, server, run):
        super().__init__(daemon=True)
        self.server, self.statement = server, run
        self.outcome = None
        self.start()

    def run(self):
        try:
            with self.server.connect(timeout=120) as connection:
                self.statement(connection)
                self.outcome = "done"
        except (ConnectionClosed, OSError):
            self.outcome = "closed"
        except ServerError as error:
            self.outcome = error.sqlstate
        except Exception as error:
            self.outcome = repr(error)


class HeldCopy(Running):
    """COPY whose client keeps back the end of its data until it may go on: till then the statement is at work for certain."""

    def __init__(self, server, data, held=1):
        self.data, self.held, self.may_go_on = data, held, threading.Event()
        super().__init__(server, self.copy)

    def copy(self, connection):
        connection.send(query("COPY bulk FROM STDIN"))
        connection.read_until(b"G", b"E")
        connection.send(copy_data(self.data[:-self.held]))
        self.may_go_on.wait(200)
        connection.send(copy_data(self.data[-self.held:]) + COPY_DONE)
        result, = connection.results()
        if result.error:
            raise ServerError(result.error)

    def finish(self):
        self.may_go_on.set()
        self.join(120)
        assert not self.is_alive(), "it hangs"
        return self.outcome


def journal_length(raw):
    states = raw("HVALS", "redquel:exclusive")
    if not states:
        return None
    state = states[0].decode() if isinstance(states[0], bytes) else states[0]
    return raw("LLEN", "redquel:journal:" + state.split(" ")[0])


def has_chunks(raw, chunks):
    return lambda: (journal_length(raw) or 0) >= chunks


def forget_owner(redis):
    """As if the lease were over."""
    with redis.connect() as raw:
        for state in raw("HVALS", "redquel:exclusive"):
            state = state.decode() if isinstance(state, bytes) else state
            raw("DEL", "redquel:lease:" + state.split(" ")[0])


def check(server, redis, possible):
    """The table has one of these numbers of rows, nothing else is wrong, and no lock blocks."""
    with server.connect() as connection:
        count = int(run_when_it_is_back(connection, "SELECT count(*) FROM bulk")[0][0])
        assert count in possible, f"{count} rows, not one of {possible}"
        found = int(connection.run("SELECT count(*) FROM bulk WHERE id >= 0 AND word IS NOT NULL")[0][0])
        assert found == count, (found, count)
        assert connection.run("SELECT * FROM redquel.check_indexes('bulk')") == []
    with redis.connect() as raw:
        assert not raw("EXISTS", "redquel:exclusive")
        assert raw.keys("redquel:journal:*") == [] and raw.keys("redquel:lease:*") == []
    return count


def start(make_server, make_redis, *options, rows=100):
    redis = make_redis(*options)
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run(TABLE)
        copy_in(connection, lines(0, rows))
    return redis, server


def kill_redquel_when(make_server, make_redis, condition, running, possible):
    redis, server = start(make_server, make_redis)
    statement = running(server)
    with redis.connect() as raw:
        wait_for(lambda: condition(raw) or statement.outcome, pause=0.0005)
    server.kill()
    if isinstance(statement, HeldCopy):
        assert statement.finish() == "closed", statement.outcome
    statement.join()
    server.start()
    forget_owner(redis)
    return check(server, redis, (100 + ROWS,) if statement.outcome == "done" else possible)


def test_killed_when_it_begins(make_server, make_redis):
    kill_redquel_when(make_server, make_redis, lambda raw: raw("EXISTS", "redquel:exclusive"), lambda server: HeldCopy(server, lines(1000, ROWS)), (100,))


def test_killed_between_chunks(make_server, make_redis):
    for chunks in (1, 3, 6):
        kill_redquel_when(make_server, make_redis, lambda raw: (journal_length(raw) or 0) >= chunks,
                          lambda server: HeldCopy(server, lines(1000, ROWS)), (100,))


def test_killed_near_the_end(make_server, make_redis):
    kill_redquel_when(make_server, make_redis, lambda raw: (journal_length(raw) or 0) >= ROWS // 2000 - 1,
                      lambda server: Running(server, lambda connection: copy_in(connection, lines(1000, ROWS))), (100, 100 + ROWS))


def test_killed_while_it_is_undone(make_server, make_redis):
    lengths = []

    def shrinks(raw):
        lengths.append(journal_length(raw) or 0)
        return lengths[-1] < max(lengths)

    kill_redquel_when(make_server, make_redis, shrinks,
                      lambda server: Running(server, lambda connection: copy_in(connection, lines(1000, ROWS, last_is_wrong=True))), (100,))


def test_redis_killed_between_chunks(make_server, make_redis):
    for chunks in (1, 5):
        redis, server = start(make_server, make_redis, "--appendonly", "yes", "--appendfsync", "always")
        running = HeldCopy(server, lines(1000, ROWS), held=8000)
        with redis.connect() as raw:
            wait_for(has_chunks(raw, chunks), pause=0.0005)
        redis.kill()
        outcome = running.finish()
        assert outcome in ("08006", "08007", "57P03"), outcome
        redis.start()
        forget_owner(redis)
        check(server, redis, (100,))


def test_redis_killed_while_it_is_undone(make_server, make_redis):
    redis, server = start(make_server, make_redis, "--appendonly", "yes", "--appendfsync", "always")
    running = Running(server, lambda connection: copy_in(connection, lines(1000, ROWS, last_is_wrong=True)))
    lengths = [0]
    with redis.connect() as raw:
        while lengths[-1] >= max(lengths) and not running.outcome:
            lengths.append(journal_length(raw) or 0)
    redis.kill()
    running.join(120)
    assert running.outcome not in (None, "done"), running.outcome
    redis.start()
    forget_owner(redis)
    check(server, redis, (100,))


def test_large_transactions_killed(make_server, make_redis):
    """A commit of more rows than one script writes."""
    for chunks in (1, 4, 7):
        redis, server = start(make_server, make_redis)

        def transfer(connection):
            connection.run("BEGIN")
            connection.run(f"INSERT INTO bulk SELECT g, g % 97, 'w' || g, g FROM generate_series(1000, {999 + ROWS}) g")
            connection.run("UPDATE bulk SET a = -1 WHERE id < 50")
            connection.run("DELETE FROM bulk WHERE id >= 50 AND id < 100")
            connection.run("COMMIT")
        running = Running(server, transfer)
        with redis.connect() as raw:
            wait_for(lambda: (journal_length(raw) or 0) >= chunks or running.outcome, pause=0.0005)
        server.kill()
        running.join()
        server.start()
        forget_owner(redis)
        count = check(server, redis, (50 + ROWS,) if running.outcome == "done" else (100, 50 + ROWS))
        with server.connect() as connection:
            changed = connection.run("SELECT count(*) FROM bulk WHERE a = -1")
            assert changed == [["0" if count == 100 else "50"]], (count, changed)


def test_update_and_delete_killed(make_server, make_redis):
    for sql, left in (("UPDATE bulk SET a = a + 1000, word = word || 'x', amount = -amount", 10_000), ("UPDATE bulk SET id = id + 1000000", 10_000),
                      ("DELETE FROM bulk", 0)):
        redis, server = start(make_server, make_redis, rows=10_000)
        running = Running(server, lambda connection: connection.run(sql))
        with redis.connect() as raw:
            wait_for(lambda: (journal_length(raw) or 0) >= 2 or running.outcome, pause=0.0005)
        server.kill()
        running.join()
        server.start()
        forget_owner(redis)
        # Killed at the last moment, the unit is complete but unacknowledged.
        count = check(server, redis, (left,) if running.outcome == "done" else (left, 10_000))
        with server.connect() as connection:
            changed = connection.run("SELECT count(*) FROM bulk WHERE a >= 1000 OR word LIKE '%x' OR amount < 0 OR id >= 1000000")
            assert changed == [[str(count)]] or changed == [["0"]] and running.outcome != "done", (sql, running.outcome, count, changed)


def cut_short(server, redis, sql, is_due):
    """Kills redquel when `is_due` of the journal's length, or when the statement has ended; the server is there again."""
    running = Running(server, lambda connection: connection.run(sql))
    with redis.connect() as raw:
        wait_for(lambda: is_due(journal_length(raw) or 0) or running.outcome, pause=0.0005)
    server.kill()
    running.join()
    assert running.outcome in ("done", "closed"), running.outcome
    server.start()
    forget_owner(redis)
    return running.outcome


def shrinks():
    longest = [0]

    def is_due(length):
        longest[0] = max(longest[0], length)
        return length < longest[0]
    return is_due


def test_statements_of_many_rows_are_killed_again_and_again(make_server, make_redis, random):
    """One table through all of them, killed in a phase that chance chooses, and while what it has left is undone. JOURNAL_ROWS=300000 for more."""
    rows = int(os.environ.get("JOURNAL_ROWS", 12_000))
    empty, full, updated = [["0", None, "0"]], [[str(rows), str(rows), "0"]], [[str(rows), str(2 * rows), str(rows)]]
    redis, server = start(make_server, make_redis, rows=0)
    for sql, before, after in ((f"INSERT INTO bulk SELECT g, 1, 'w' || g, g FROM generate_series(1, {rows}) AS s(g)", empty, full),
                               ("UPDATE bulk SET a = a + 1, word = word || 'x', amount = -amount", full, updated),
                               ("DELETE FROM bulk", updated, empty)):
        for attempt in range(4):
            if attempt == 3:  # no kill any more
                with server.connect(timeout=300) as connection:
                    run_when_it_is_back(connection, sql)
                outcome = "done"
            else:
                chunks = random.randrange(rows // 2000 + 3)
                outcome = cut_short(server, redis, sql, lambda length: length >= chunks)
                for _ in range(attempt):
                    cut_short(server, redis, "DELETE FROM bulk WHERE id = -1", shrinks())
            check(server, redis, {int(count) for (count, _, _), in (before, after)})
            with server.connect() as connection:
                found = connection.run("SELECT count(*), sum(a), count(*) FILTER (WHERE amount < 0 AND word LIKE '%x') FROM bulk")
            assert found == after or found == before and outcome != "done", (sql, attempt, outcome, found)
            if found == after:
                break


def test_kills_during_foreign_key_actions(make_server, make_redis):
    """Two tables in one unit: the rows that were named, and those that refer to them."""
    for sql, left in (("DELETE FROM owner", 0), ("UPDATE owner SET id = id + 1000000", 97)):
        for chunks in (1, 3):
            redis, server = start(make_server, make_redis, rows=10_000)
            with server.connect() as connection:
                connection.run("CREATE TABLE owner (id integer PRIMARY KEY)")
                connection.run("INSERT INTO owner SELECT generate_series(0, 96)")
                connection.run("ALTER TABLE bulk ADD FOREIGN KEY (a) REFERENCES owner ON DELETE CASCADE ON UPDATE CASCADE")
            running = Running(server, lambda connection: connection.run(sql))
            with redis.connect() as raw:
                wait_for(lambda: (journal_length(raw) or 0) >= chunks or running.outcome, pause=0.0005)
            server.kill()
            running.join()
            assert running.outcome in ("done", "closed"), running.outcome
            server.start()
            forget_owner(redis)
            rows = 10_000 if left else 0
            count = check(server, redis, (rows,) if running.outcome == "done" else (rows, 10_000))
            with server.connect() as connection:
                owners, changed = connection.run("SELECT count(*), count(*) FILTER (WHERE id >= 1000000) FROM owner")[0]
                changed_rows, = connection.run("SELECT count(*) FROM bulk WHERE a >= 1000000")[0]
                strays = connection.run("SELECT count(*) FROM bulk WHERE a NOT IN (SELECT id FROM owner)")
                assert strays == [["0"]], (sql, chunks, strays)
                assert connection.run("SELECT * FROM redquel.check_indexes('owner')") == []
            if left == 0:
                assert owners == ("0" if count == 0 else "97"), (running.outcome, owners, count)
            else:
                assert (owners, changed, changed_rows) in (("97", "0", "0"), ("97", "97", "10000")), (owners, changed, changed_rows)
                assert running.outcome != "done" or changed == "97", running.outcome


def test_errors_and_cancels_are_undone(make_server, make_redis):
    redis, server = start(make_server, make_redis)
    with server.connect(timeout=120) as connection:
        try:
            copy_in(connection, lines(1000, ROWS, last_is_wrong=True))
            raise AssertionError("no error")
        except ServerError as error:
            assert error.sqlstate == "22P02", error
            assert error.fields["W"] == f'COPY bulk, line {ROWS + 1}, column id: "oops"', error.fields
        assert check(server, redis, (100,))
        try:
            copy_in(connection, lines(1000, ROWS) + lines(1005, 1))
            raise AssertionError("no error")
        except ServerError as error:
            assert error.sqlstate == "23505", error
            assert error.fields["W"] == f"COPY bulk, line {ROWS + 1}", error.fields
        assert check(server, redis, (100,))

        connection.send(query("COPY bulk FROM STDIN"))
        connection.read_until(b"G")
        connection.send(copy_data(lines(1000, 10_000)))
        with redis.connect() as raw:
            wait_for(has_chunks(raw, 2))
        connection.cancel()
        messages = connection.read_until(b"Z")
        assert b"57014" in messages[0][1], messages
        assert check(server, redis, (100,))


def test_no_session_sees_a_part(make_server, make_redis):
    """Readers and writers on two redquels, while rows come and go in thousands."""
    redis, server = start(make_server, make_redis)
    other = make_server(redis=redis)
    seen, trouble, stop = set(), [], threading.Event()

    def read(from_server):
        try:
            with from_server.connect(timeout=120) as connection:
                while not stop.is_set():
                    seen.add(int(connection.run("SELECT count(*) FROM bulk WHERE id >= 1000")[0][0]))
                    seen.add(int(connection.run("SELECT count(word) FROM bulk WHERE amount > 999")[0][0]))
                    found = connection.run("SELECT a FROM bulk WHERE id = 1500")
                    assert found in ([], [[str(1500 % 97)]]), found
        except Exception as error:
            trouble.append(error)

    def write():
        try:
            with other.connect(timeout=120) as connection:
                while not stop.is_set():
                    connection.run("UPDATE bulk SET amount = amount + 1 WHERE id = 7")
        except Exception as error:
            trouble.append(error)

    crew = [threading.Thread(target=read, args=(which,)) for which in (server, other)] + [threading.Thread(target=write)]
    for thread in crew:
        thread.start()
    with server.connect(timeout=120) as connection:
        for _ in range(2):
            copy_in(connection, lines(1000, 10_000))
            connection.run("DELETE FROM bulk WHERE id >= 1000")
    stop.set()
    for thread in crew:
        thread.join(120)
    assert not trouble, trouble
    assert seen <= {0, 10_000}, sorted(seen)[:20]
    check(server, redis, (100,))


def test_a_stopped_redquel_loses_its_tables(make_server, make_redis):
    """SIGSTOP beyond the lease: the other undoes the unit, and the first changes nothing that is not its own any more."""
    redis, server = start(make_server, make_redis)
    other = make_server(redis=redis)
    running = HeldCopy(server, lines(1000, ROWS), held=8000)
    with redis.connect() as raw:
        wait_for(has_chunks(raw, 3))
    os.kill(server.process.popen.pid, signal.SIGSTOP)
    forget_owner(redis)
    check(other, redis, (100,))
    os.kill(server.process.popen.pid, signal.SIGCONT)
    outcome = running.finish()
    assert outcome == "40001", outcome
    check(other, redis, (100,))


def test_a_commit_waits_for_a_table_that_is_exclusive(make_server, make_redis):
    """It neither fails nor overtakes; but lock_timeout counts."""
    redis, server = start(make_server, make_redis)
    other = make_server(redis=redis)
    for ending in ("waits", "gives up"):
        with other.connect(timeout=120) as transaction:
            transaction.run("BEGIN")
            transaction.run("UPDATE bulk SET a = a + 1000 WHERE id = 7")
            running = HeldCopy(server, lines(1000 if ending == "waits" else 1000 + ROWS, ROWS))
            with redis.connect() as raw:
                wait_for(has_chunks(raw, 1))
            if ending == "gives up":
                transaction.run("SET LOCAL lock_timeout = '300ms'")
                error = transaction.run_error("COMMIT")
                assert error["C"] == "55P03", error
                outcome = running.finish()
            else:
                transaction.send(query("COMMIT"))
                assert not transaction.has_input(0.5), transaction.results()
                outcome = running.finish()
                committed = transaction.results()[0]
                assert committed.tag == "COMMIT", committed
            assert outcome == "done", outcome
    with other.connect() as connection:
        found = connection.run("SELECT a FROM bulk WHERE id = 7")
        assert found == [["1007"]], found
    check(other, redis, (100 + 2 * ROWS,))
