"""Rows of cursors and unfinished lines of COPY count as memory that clients make the process hold."""
from harness.pgwire import copy_data, copy_fail, query

from wire.doors_test import configured, resident_megabytes


def test_rows_of_many_cursors_lie_in_files(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\nmax_statement_bytes = 1048576\nclient_memory = 1048576\nwork_mem = 67108864\n")
    with server.connect() as connection:
        connection.run("BEGIN")
        connection.run("DECLARE first CURSOR FOR SELECT 1")
        before = resident_megabytes(server)
        # Together twelve times what the session may hold.
        for number in range(20):
            connection.run(f"DECLARE c{number} CURSOR FOR SELECT repeat('x', 1000000) || g FROM generate_series(1, 40) g")
        grown = resident_megabytes(server) - before
        assert grown < 400, grown
        for number in (0, 19):
            rows = connection.run(f"FETCH ALL FROM c{number}")
            assert [len(row[0]) for row in rows] == [1_000_001] * 9 + [1_000_002] * 31, len(rows)
        connection.run("ROLLBACK")


def test_lines_of_copy_are_bounded(make_redis, make_server):
    server = configured(make_server, make_redis(), "[limits]\nmax_statement_bytes = 1048576\nclient_memory = 1048576\n")
    with server.connect() as connection:
        connection.run("CREATE TABLE t (a text)")
        connection.send(query("COPY t FROM STDIN"))
        connection.read_until(b"G")
        piece = copy_data(b"x" * (4 << 20))
        for _ in range(30):
            connection.send(piece)
        connection.send(copy_fail("enough"))
        error = connection.results()[-1].error
        assert error and error["C"] == "53200", error
        assert connection.run("SELECT count(*) FROM t") == [["0"]]
        connection.query("COPY t FROM STDIN", data=b"y\nz\n")
        assert connection.run("SELECT count(*) FROM t") == [["2"]]
