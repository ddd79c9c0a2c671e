"""Leases of processes that live, stand still, or were killed. A process that lives never loses its own."""
import re
import signal
import threading
import time
import urllib.request

from harness.keyspace import end_leases
from harness.pgwire import ServerError, query
from harness.processes import temporary_folder
from harness.sentinels import free_port
from harness.servers import sharing_redis
from harness.waiting import wait_for

SLOW = True
LIMIT = 900
SHORTEST = 1_000  # milliseconds: the shortest lease that the configuration takes
ENDLESS = 3_600_000  # longer than any wait here


class LeaseWatch(threading.Thread):
    """Notes the shortest time that was left of any lease."""

    def __init__(self, redis):
        super().__init__(daemon=True)
        self.redis, self.stopped, self.shortest = redis, threading.Event(), None

    def run(self):
        with self.redis.connect() as raw:
            while not self.stopped.wait(0.02):
                for key in raw.keys("redquel:process:*"):
                    left = raw("PTTL", key)
                    if left > 0:
                        self.shortest = min(left, self.shortest or left)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()


def fill(client, rows, columns=""):
    client.run(f"CREATE TABLE t (id int PRIMARY KEY, v text UNIQUE{columns})")
    client.run(f"INSERT INTO t (id, v) SELECT g, g::text FROM generate_series(1, {rows}) g")


def test_a_large_transaction_keeps_its_lease(make_redis, make_server):
    """Its commands fill the connection of the statements, and encoding them keeps the thread busy."""
    redis, server = sharing_redis(make_redis, make_server, 1, lock_lease=SHORTEST)
    with server.connect(timeout=600) as client, LeaseWatch(redis) as watch:
        fill(client, 20_000)
        client.run("BEGIN; UPDATE t SET v = v || repeat('y', 2000)")
        client.run("COMMIT")
        assert client.run("SELECT count(*), min(length(v)) FROM t") == [["20000", "2001"]]
    print(f"  the shortest time left was {watch.shortest} ms", flush=True)


def test_a_transaction_keeps_its_lease_while_its_thread_computes(make_redis, make_server):
    """A statement of another session of the same thread is parsed and bound for longer than the lease."""
    redis, server = sharing_redis(make_redis, lambda *options, **rest: make_server("--threads", "1", *options, **rest), 1, lock_lease=SHORTEST)
    with server.connect(timeout=600) as holder, server.connect(timeout=600) as busy, LeaseWatch(redis):
        fill(holder, 10)
        holder.run("BEGIN; UPDATE t SET v = 'x' WHERE id = 1")
        assert len(busy.run(f"SELECT id FROM t WHERE id IN ({','.join(map(str, range(100_000)))})")) == 10
        holder.run("COMMIT")
        assert holder.run("SELECT v FROM t WHERE id = 1") == [["x"]]


def test_a_transaction_keeps_its_lease_while_its_script_runs(make_redis, make_server):
    """One script writes all rows, for longer than the lease. On a busy machine the renewal may be late for another reason, but not every time."""
    redis, server = sharing_redis(make_redis, make_server, 1, lock_lease=SHORTEST, script_rows=100_000)
    with server.connect(timeout=600) as client:
        fill(client, 60_000, ", a int DEFAULT 1, b int DEFAULT 2")
        client.run("CREATE INDEX ON t (a, v); CREATE INDEX ON t (b, v)")
        with redis.connect() as raw:
            raw("CONFIG", "SET", "slowlog-log-slower-than", "100000")
            for attempts_left in (2, 1, 0):
                try:
                    client.run("BEGIN; UPDATE t SET v = v || repeat('z', 100)")
                    client.run("COMMIT")
                    break
                except ServerError as error:
                    client.run("ROLLBACK")
                    if error.sqlstate != "40001" or attempts_left == 0:
                        raise
            longest = max(int(entry[2]) for entry in raw("SLOWLOG", "GET", "100")) / 1e6
        assert client.run("SELECT count(*) FROM t WHERE v LIKE '%z'") == [["60000"]]
    print(f"  the longest script took {longest:.1f} s", flush=True)


def wait_for_note(redis, server):
    """Waits until redquel:holders names the server's process: before that, its locks are free only after their lease."""
    with redis.connect() as raw:
        wait_for(lambda: any(f"/{server.process.pid}/" in mark for mark in raw.hash("redquel:holders").values()), what="a note of the lease")


def test_locks_of_a_killed_process_of_this_machine_are_soon_free(make_redis, make_server):
    """However long their lease is: locks of rows and tables, advisory locks, and the tables of a statement of many rows."""
    redis, first, second = sharing_redis(make_redis, make_server, 2, lock_lease=ENDLESS)
    with second.connect() as other:
        fill(other, 20_000)
        other.run("CREATE TABLE account (id int PRIMARY KEY, n int); INSERT INTO account VALUES (1, 0), (2, 0)")
        takers = {
            "LOCK TABLE account": "UPDATE account SET n = 1 WHERE id = 2",
            "UPDATE account SET n = 7 WHERE id = 1": "UPDATE account SET n = 1 WHERE id = 1",
            "SELECT pg_advisory_lock(5)": "SELECT pg_advisory_lock(5); SELECT pg_advisory_unlock(5)"}
        for take, need in takers.items():
            holder = first.connect()
            holder.run("BEGIN")
            holder.run(take)
            wait_for_note(redis, first)
            killed = time.monotonic()
            first.kill()
            other.run(need)
            print(f"  {take}: free after {time.monotonic() - killed:.2f} s", flush=True)
            first.start()
        # Statements that do not wait find the locks gone, too.
        holder = first.connect()
        holder.run("BEGIN; SELECT * FROM account FOR UPDATE; SELECT pg_advisory_lock(5)")
        wait_for_note(redis, first)
        first.kill()
        wait_for(lambda: len(other.run("SELECT id FROM account FOR UPDATE SKIP LOCKED")) == 2, what="the rows")
        wait_for(lambda: other.run("SELECT pg_try_advisory_lock(5)") == [["t"]], what="the advisory lock")
        other.run("SELECT pg_advisory_unlock(5)")
        first.start()
        with first.connect() as writer:
            writer.send(query("UPDATE t SET v = v || 'z'"))
            with redis.connect() as raw:
                wait_for(lambda: any(key.startswith("redquel:lease:") for key in raw.hash("redquel:holders")), what="a statement that has its table for itself")
            killed = time.monotonic()
            first.kill()
            other.run("UPDATE t SET v = 'new' WHERE id = 1")
            print(f"  a statement of many rows: free after {time.monotonic() - killed:.2f} s", flush=True)
        assert other.run("SELECT count(*) FROM t WHERE v LIKE '%z'")[0][0] in ("0", "19999")
        assert other.run("SELECT * FROM redquel.check_indexes('t')") == []


def test_notes_of_other_programs_delete_no_key_but_leases(make_redis, make_server):
    redis, first, second = sharing_redis(make_redis, make_server, 2, lock_lease=ENDLESS)
    with second.connect() as other, redis.connect() as raw:
        fill(other, 2)
        holder = first.connect()
        holder.run("BEGIN; UPDATE t SET v = 'x' WHERE id = 1")
        wait_for_note(redis, first)
        [mark] = {mark for mark in raw.hash("redquel:holders").values() if f"/{first.process.pid}/" in mark}
        raw("SET", "of_the_application", "kept")
        raw("HSET", "redquel:holders", "of_the_application", mark)
        first.kill()
        other.run("UPDATE t SET v = 'y' WHERE id = 1")  # once the lease of the killed process is deleted
        assert raw("GET", "of_the_application") == "kept"


def test_locks_of_a_process_of_another_machine_stay(make_redis, make_server):
    """Nothing is known there of its end but the lease."""
    redis, first, second = sharing_redis(make_redis, make_server, 2, lock_lease=ENDLESS)
    with second.connect() as other, redis.connect() as raw:
        fill(other, 2)
        holder = first.connect()
        holder.run("BEGIN; UPDATE t SET v = 'x' WHERE id = 1")
        [lease] = wait_for(lambda: [key for key, mark in raw.hash("redquel:holders").items() if f"/{first.process.pid}/" in mark], what="a note of the lease")
        raw("HSET", "redquel:holders", lease, "elsewhere" + raw("HGET", "redquel:holders", lease))
        first.kill()
        other.run("SET lock_timeout = '3s'")
        assert other.run_error("UPDATE t SET v = 'y' WHERE id = 1")["C"] == "55P03"
        assert raw("EXISTS", lease) == 1
        raw("DEL", lease)
        other.run("UPDATE t SET v = 'y' WHERE id = 1")


def stand_still(server, redis):
    """The process stands still for longer than its lease."""
    server.process.send_signal(signal.SIGSTOP)
    end_leases(redis)
    server.process.send_signal(signal.SIGCONT)


def test_a_session_hears_that_its_advisory_locks_are_lost(make_redis, make_server):
    redis, server = sharing_redis(make_redis, make_server, 1, lock_lease=6_000)
    with server.connect() as client:
        client.run("SELECT pg_advisory_lock(5), pg_advisory_lock(5), pg_advisory_lock_shared(6)")
        stand_still(server, redis)
        [result] = client.query("SELECT pg_advisory_unlock(5)")
        assert result.texts() == [["f"]], result.texts()
        assert "you don't own a lock of type ExclusiveLock" in [notice["M"] for notice in result.notices], result.notices
        told = []

        def is_told():
            told.extend(notice["M"] for notice in client.query("SELECT 1")[0].notices)
            return told
        wait_for(is_told, what="the warning")
        assert told == ["the advisory locks of the session are lost"], told
        [result] = client.query("SELECT pg_advisory_unlock_shared(6)")
        assert result.texts() == [["f"]] and len(result.notices) == 1, (result.texts(), result.notices)
        assert client.run("SELECT pg_advisory_lock(5)") and client.run("SELECT pg_advisory_unlock(5)") == [["t"]]
        assert client.query("SELECT 1")[0].notices == []


def test_a_transaction_that_lost_its_advisory_lock_does_not_commit(make_redis, make_server):
    redis, server = sharing_redis(make_redis, make_server, 1, lock_lease=6_000)
    with server.connect() as client, server.connect() as other:
        client.run("CREATE TABLE t (id int PRIMARY KEY)")
        other.run("BEGIN; SELECT pg_advisory_xact_lock(5)")
        other.run("INSERT INTO t VALUES (1)")
        stand_still(server, redis)
        try:
            other.run("COMMIT")
        except ServerError as error:
            assert error.sqlstate == "40001", error
        else:
            raise AssertionError("the transaction has committed")
        assert client.run("SELECT * FROM t") == []


def test_the_delay_of_renewals_is_a_metric(make_redis, make_server):
    port, path = free_port(), f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[status]\nlisten = "127.0.0.1:{port}"\n[limits]\nlock_lease = {SHORTEST}\n')
    server = make_server("--config", path, redis=make_redis())

    def renewals():
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30).read().decode()
        return int(re.search(r"(?m)^redquel_lease_renewal_delay_seconds_count (\d+)$", text)[1])
    with server.connect() as holder:
        fill(holder, 2)
        holder.run("BEGIN; UPDATE t SET v = 'x' WHERE id = 1")
        before = renewals()
        wait_for(lambda: renewals() > before + 3, what="renewals of the lease")
        holder.run("COMMIT")
