"""CancelRequest ends a running statement, and nothing else."""
import struct
import threading
import time

from harness import pgwire

CONCURRENT = True
LONG = "SELECT count(*) FROM generate_series(1, 2000000000) AS s(g)"


def cancelled(connection, sql, delay=0.2):
    timer = threading.Timer(delay, connection.cancel)
    timer.start()
    started = time.monotonic()
    try:
        return connection.query(sql)[-1], time.monotonic() - started
    finally:
        timer.join()


def test_cancel_ends_a_long_statement(server):
    with server.connect() as connection:
        result, seconds = cancelled(connection, LONG)
        assert result.sqlstate == "57014" and result.error["M"] == "canceling statement due to user request", result.error
        assert seconds < 10, seconds
        assert connection.run("SELECT 'still here'") == [["still here"]]


def test_cancel_drops_the_rest_of_the_string(server):
    with server.connect() as connection:
        connection.send(pgwire.query(f"{LONG}; SELECT 2"))
        time.sleep(0.2)
        connection.cancel()
        assert [result.sqlstate for result in connection.results()] == ["57014"]


def test_cancel_ends_a_statement_whose_answer_is_not_read(server):
    with server.connect() as connection:
        connection.send(pgwire.query("SELECT repeat('x', 1000) FROM generate_series(1, 300000) AS s(g)"))
        time.sleep(0.3)
        connection.cancel()
        result = connection.results()[-1]
        assert result.sqlstate == "57014", (result.tag, len(result.rows))


def test_cancel_of_an_idle_session_does_nothing(server):
    with server.connect() as connection:
        connection.cancel()
        time.sleep(0.1)
        for number in range(20):
            assert connection.run(f"SELECT {number}") == [[str(number)]]


def test_cancel_with_a_wrong_key_does_nothing(server):
    with server.connect() as connection:
        for pid, secret in ((connection.process_id, connection.secret ^ 1), (connection.process_id ^ 1, connection.secret), (0, 0)):
            other = server.socket()
            other.send(pgwire.special_startup(pgwire.CANCEL_REQUEST, struct.pack("!iI", pid & 0x7FFFFFFF, secret)))
            assert other.at_end()
        assert connection.run("SELECT count(*) FROM generate_series(1, 100000) AS s(g)") == [["100000"]]


def test_cancel_hits_its_own_session_only(server):
    results = {}
    with server.connect() as victim, server.connect() as bystander:
        def run_bystander():
            results["bystander"] = bystander.query("SELECT count(*) FROM generate_series(1, 300000) AS s(g)")[-1]

        thread = threading.Thread(target=run_bystander)
        thread.start()
        result, _ = cancelled(victim, LONG)
        thread.join()
    assert result.sqlstate == "57014"
    assert results["bystander"].tag == "SELECT 1", results["bystander"].error


def test_cancel_again_and_again(server):
    with server.connect() as connection:
        for turn in range(20):
            result, _ = cancelled(connection, LONG, 0.05 + 0.01 * (turn % 5))
            assert result.sqlstate == "57014", result.error
            assert connection.run("SELECT 1") == [["1"]]


def test_pg_cancel_backend_ends_the_statement_of_another_session(server):
    with server.connect() as connection, server.connect() as other:
        timer = threading.Timer(0.3, lambda: other.run(f"SELECT pg_cancel_backend({connection.process_id})"))
        timer.start()
        result = connection.query(LONG)[-1]
        timer.join()
        assert result.sqlstate == "57014" and result.error["M"] == "canceling statement due to user request", result.error
        assert connection.run("SELECT 'still here'") == [["still here"]]


def test_pg_cancel_backend_of_nobody(server):
    with server.connect() as connection:
        assert connection.run("SELECT pg_cancel_backend(2000000001), pg_terminate_backend(0)") == [["f", "f"]]


def test_pg_terminate_backend_ends_idle_and_running_sessions(server):
    with server.connect() as other:
        for statement in (None, LONG):
            connection = server.connect()
            if statement:
                connection.send(pgwire.query(statement))
                time.sleep(0.3)
            assert other.run(f"SELECT pg_terminate_backend({connection.process_id})") == [["t"]]
            try:
                connection.query("SELECT 1") if not statement else connection.results()
                ended = connection.at_end()
            except (pgwire.ConnectionClosed, pgwire.ServerError, OSError):
                ended = True
            assert ended
            deadline = time.monotonic() + 10
            while other.run(f"SELECT pg_terminate_backend({connection.process_id})") == [["t"]]:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            connection.abandon()


def test_connections_know_where_they_come_from(server):
    with server.connect() as connection:
        rows = connection.run("SELECT inet_client_addr(), inet_server_addr(), inet_client_port() > 0, inet_server_port() > 0, current_query()")
        assert rows[0][:4] == ["127.0.0.1", "127.0.0.1", "t", "t"], rows
        assert rows[0][4].startswith("SELECT inet_client_addr()"), rows


def test_pg_blocking_pids_names_who_holds_the_lock(server):
    with server.connect() as holder, server.connect() as other:
        other.run("CREATE TABLE blocked (id int PRIMARY KEY, v int)")
        other.run("INSERT INTO blocked VALUES (1, 1)")
        holder.run("BEGIN")
        holder.run("UPDATE blocked SET v = 2 WHERE id = 1")
        waiter = server.connect()
        waiter.run("BEGIN")
        waiter.send(pgwire.query("UPDATE blocked SET v = 3 WHERE id = 1"))
        deadline = time.monotonic() + 20
        while other.run(f"SELECT pg_blocking_pids({waiter.process_id})") != [["{%d}" % holder.process_id]]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert other.run(f"SELECT pg_blocking_pids({holder.process_id}), pg_blocking_pids(NULL) IS NULL, pg_blocking_pids(pg_backend_pid())") == [["{}", "t", "{}"]]
        holder.run("COMMIT")
        waiter.results()
        assert other.run(f"SELECT pg_blocking_pids({waiter.process_id})") == [["{}"]]
        waiter.abandon()
