"""Clients that make redquel hold memory and compute for long: it serves the others with right answers, and gives the memory back.

The peak of its memory stays below one and a half times the limit. `tests/run.py --long` takes the limit of 1 GB, more clients and minutes.
bench/hostile.py measures the latency of the others.
"""
import os
import time

from harness.hostile_clients import SETUP, WORKS, HostileClients
from harness.waiting import wait_for

from wire.doors_test import configured, resident_megabytes

LONG_FORM = os.environ.get("LONG_TESTS") == "1"
MEMORY = 1024 if LONG_FORM else 512  # MB
CLIENTS = 16 if LONG_FORM else 6
SECONDS = 240 if LONG_FORM else 20
SLOW = True
LIMIT = 900


def peak_megabytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith("VmHWM"))


def test_others_are_served_beside_hostile_clients_and_the_memory_is_given_back(make_redis, make_server, build):
    server = configured(make_server, make_redis(), f"[limits]\nmemory = '{MEMORY}MB'\nwork_mem = '{MEMORY // 8}MB'\n[cache]\nmemory = '{MEMORY // 4}MB'\nleast_rows = 1\n",
                        "--threads", "2")
    with server.connect() as connection:
        connection.run(SETUP)
        connection.run("CREATE TABLE light (id int PRIMARY KEY, n int NOT NULL); INSERT INTO light SELECT g, 0 FROM generate_series(1, 100) g")
    hostile = HostileClients(server, CLIENTS, WORKS)
    hostile.start()
    updates = 0
    try:
        with server.connect(timeout=600) as connection:
            until = time.monotonic() + SECONDS
            while time.monotonic() < until:
                row = updates % 100 + 1
                connection.run(f"UPDATE light SET n = n + 1 WHERE id = {row}")
                updates += 1
                assert connection.run(f"SELECT n FROM light WHERE id = {row}") == [[str((updates + 99) // 100)]]
    finally:
        hostile.stop()
    assert hostile.failures == [], hostile.failures
    assert sum(hostile.done.values()) + sum(hostile.refused.values()) >= len(WORKS) // 2, (hostile.done, hostile.refused)
    # A sanitizer keeps freed memory for a while, and its allocator gives no figures.
    assert os.path.basename(build) != "release" or peak_megabytes(server) < 1.5 * MEMORY, (peak_megabytes(server), hostile.done, hostile.refused)
    with server.connect() as connection:
        assert connection.run("SELECT sum(n) FROM light") == [[str(updates)]]
        assert connection.run("SELECT count(*) FROM heavy") == [["50000"]]
        wait_for(lambda: connection.query("SELECT length(repeat('x', 20000000))")[-1].sqlstate is None, what="memory for a statement after the storm")
    assert resident_megabytes(server) < 1.25 * MEMORY


# Each computes for seconds. The other session is on the same thread.
LONG_COMPUTATIONS = (
    "SELECT length(repeat('a', 100000000) || repeat('b', 100000000))",
    "SELECT md5(repeat('x', 500000000))",
    "SELECT sum(length(repeat('m', 5000000) || g)) FROM generate_series(1, 200) g",
    "SELECT regexp_replace(repeat('ab', 5000000), '(a)(b)', '\\2\\1', 'g') IS NULL",
    "SELECT count(*) FROM regexp_split_to_table(repeat('b,', 1000000), ',')",
    "SELECT length((3::numeric ^ 30000)::text), length(factorial(20000)::text)",
    "SELECT length((SELECT jsonb_object_agg('key' || g, repeat('v', 100)) FROM generate_series(1, 200000) g)::text)",
    "SELECT jsonb_path_query_array(('[' || repeat('{\"a\": [1, 2, 3]},', 200000) || '0]')::jsonb, '$[*].a[*] ? (@ > 1)') IS NULL",
    "SELECT 10000007 IN (" + ",".join(str(10_000_000 + number) for number in range(150_000)) + ")",
)


def test_others_go_on_beside_long_computations(make_redis, make_server):
    """A light client gets answers while a statement of the same thread computes, and a cancel request ends the statement."""
    server = make_server("--threads", "1", redis=make_redis())
    beside = {}
    with server.connect(timeout=600) as light:
        for sql in LONG_COMPUTATIONS:
            with server.connect(timeout=600) as heavy:
                heavy.send(b"Q" + (len(sql.encode()) + 5).to_bytes(4, "big") + sql.encode() + b"\0")
                answers = 0
                while not heavy.has_input() and answers < 20:
                    assert light.run("SELECT 1") == [["1"]]
                    answers += 1
                heavy.cancel()
                state = heavy.results()[-1].sqlstate
                assert state in (None, "57014", "53200"), (sql[:80], state)
                beside[sql[:80]] = answers
        assert light.run("SELECT 1") == [["1"]]
    # A session that waits for the end of a statement gets one answer beside it.
    assert sum(answers >= 5 for answers in beside.values()) >= len(LONG_COMPUTATIONS) - 2, beside
