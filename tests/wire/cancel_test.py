"""CancelRequest ends a running statement, and nothing else."""
import struct
import threading
import time

from harness import pgwire
from harness.waiting import wait_for

CONCURRENT = True
LONG = "SELECT count(*) FROM generate_series(1, 2000000000) AS s(g)"


def cancelled(connection, sql, delay=0.2, cancel=None):
    """The results of a statement that has no end of its own. A cancel that comes before the server has read the statement does nothing,
    as it must: so there is another one."""
    connection.send(pgwire.query(sql))
    time.sleep(delay)
    (cancel or connection.cancel)()
    while not connection.has_input(3):
        (cancel or connection.cancel)()
    return connection.results()


def test_cancel_ends_a_long_statement(server):
    with server.connect() as connection:
        result = cancelled(connection, LONG)[-1]
        assert result.sqlstate == "57014" and result.error["M"] == "canceling statement due to user request", result.error
        assert connection.run("SELECT 'still here'") == [["still here"]]


def test_cancel_drops_the_rest_of_the_string(server):
    with server.connect() as connection:
        states = [result.sqlstate for result in cancelled(connection, f"{LONG}; SELECT 2")]
        assert states == ["57014"], states


def test_cancel_ends_a_statement_whose_answer_is_not_read(server):
    with server.connect() as connection:
        connection.send(pgwire.query("SELECT repeat('x', 1000) FROM generate_series(1, 300000) AS s(g)"))
        assert connection.has_input(60), "no answer begins"
        connection.cancel()
        result = connection.results()[-1]
        assert result.sqlstate == "57014", (result.tag, len(result.rows))


def test_cancel_of_an_idle_session_has_no_effect(server):
    with server.connect() as connection:
        connection.cancel()
        for number in range(20):
            assert connection.run(f"SELECT {number}") == [[str(number)]]


def test_cancel_with_a_wrong_key_has_no_effect(server):
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
        result = cancelled(victim, LONG)[-1]
        thread.join()
    assert result.sqlstate == "57014"
    assert results["bystander"].tag == "SELECT 1", results["bystander"].error


def test_cancel_again_and_again(server):
    with server.connect() as connection:
        for turn in range(20):
            result = cancelled(connection, LONG, 0.05 + 0.01 * (turn % 5))[-1]
            assert result.sqlstate == "57014", result.error
            assert connection.run("SELECT 1") == [["1"]]


def test_pg_cancel_backend_ends_the_statement_of_another_session(server):
    with server.connect() as connection, server.connect() as other:
        result = cancelled(connection, LONG, cancel=lambda: other.run(f"SELECT pg_cancel_backend({connection.process_id})"))[-1]
        assert result.sqlstate == "57014" and result.error["M"] == "canceling statement due to user request", result.error
        assert connection.run("SELECT 'still here'") == [["still here"]]


def test_pg_cancel_backend_of_an_unknown_process(server):
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
            wait_for(lambda: other.run(f"SELECT pg_terminate_backend({connection.process_id})") == [["f"]])
            connection.abandon()


def test_connections_know_where_they_come_from(server):
    with server.connect() as connection:
        rows = connection.run("SELECT inet_client_addr(), inet_server_addr(), inet_client_port() > 0, inet_server_port() > 0, current_query()")
        assert rows[0][:4] == ["127.0.0.1", "127.0.0.1", "t", "t"], rows
        assert rows[0][4].startswith("SELECT inet_client_addr()"), rows


def test_pg_blocking_pids_names_the_lock_holder(server):
    with server.connect() as holder, server.connect() as other:
        other.run("CREATE TABLE blocked (id int PRIMARY KEY, v int)")
        other.run("INSERT INTO blocked VALUES (1, 1)")
        holder.run("BEGIN")
        holder.run("UPDATE blocked SET v = 2 WHERE id = 1")
        waiter = server.connect()
        waiter.run("BEGIN")
        waiter.send(pgwire.query("UPDATE blocked SET v = 3 WHERE id = 1"))
        wait_for(lambda: other.run(f"SELECT pg_blocking_pids({waiter.process_id})") == [["{%d}" % holder.process_id]])
        found = other.run(f"SELECT pg_blocking_pids({holder.process_id}), pg_blocking_pids(NULL) IS NULL, pg_blocking_pids(pg_backend_pid())")
        assert found == [["{}", "t", "{}"]], found
        holder.run("COMMIT")
        waiter.results()
        assert other.run(f"SELECT pg_blocking_pids({waiter.process_id})") == [["{}"]]
        waiter.abandon()
