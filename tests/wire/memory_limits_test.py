"""The memory of statements is bounded, for one session and for the process."""
import os

from harness.crew import all_at_once, crew

from wire.doors_test import configured, error_of, resident_megabytes

SLOW = True
MEGABYTES = 256
LIMIT = 900  # seconds: sanitizers are slow where much memory is taken

HEAVY = [
    "SELECT string_agg(repeat('x', 100000), '') FROM generate_series(1, 8000)",
    "SELECT count(*) FROM (SELECT g, repeat('y', 2000) AS t FROM generate_series(1, 400000) g ORDER BY t, g DESC) s",
    "SELECT array_agg(repeat('z', 5000)) FROM generate_series(1, 200000)",
    "SELECT length(repeat('a', 400000000) || repeat('b', 400000000))",
    "SELECT count(DISTINCT repeat('d', 500) || g) FROM generate_series(1, 400000) g",
    "WITH kept AS MATERIALIZED (SELECT repeat('k', 10000) || g AS t FROM generate_series(1, 100000) g) SELECT count(*) FROM kept a, kept b WHERE a.t = b.t",
]


def test_a_session_is_bounded(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\nsession_memory = '64MB'\n")
    with server.connect() as connection:
        assert error_of(connection, "SELECT length(repeat('x', 100000000))") == "53200"
        assert error_of(connection, HEAVY[0]) == "53200"
        # A sort goes on in a temporary file.
        connection.run("SET work_mem = '512MB'")
        sql = "SELECT count(*) FROM (SELECT repeat('y', 2000) AS t, g FROM generate_series(1, 60000) g ORDER BY t, g DESC OFFSET 1) s"
        assert connection.run(sql) == [["59999"]]
        assert connection.run("SELECT length(repeat('x', 10000000))") == [["10000000"]]


def test_hostile_statements_leave_room_for_others(make_redis, make_server, build):
    server = configured(make_server, make_redis(), f"[limits]\nmemory = '{MEGABYTES}MB'\nwork_mem = '32MB'\n", "--threads", "2")
    most = 0

    def heavy(number):
        with server.connect(timeout=600) as connection:
            result = connection.query(HEAVY[number % len(HEAVY)])[-1]
            assert result.sqlstate in (None, "53200"), result.sqlstate

    with crew(heavy, 6):
        with server.connect(timeout=600) as connection:
            connection.run("CREATE TABLE light (id int PRIMARY KEY, t text)")
            for number in range(100):
                connection.run(f"INSERT INTO light VALUES ({number}, 'row')")
                assert connection.run(f"SELECT t FROM light WHERE id = {number}") == [["row"]]
                most = max(most, resident_megabytes(server))
    # A sanitizer keeps freed memory for a while.
    assert os.path.basename(build) != "release" or most < 1.5 * MEGABYTES, most
    all_at_once(heavy, 1)  # the process is not full for ever
