"""Restarts that no client meets: sockets of a service manager, shared ports, the drain, and what the service manager is told."""
import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from harness import pgwire
from harness.pgwire import ConnectionClosed, ServerError
from harness.processes import temporary_folder
from harness.servers import Redquel, sanitizer_environment
from harness.waiting import wait_for

CONCURRENT = True
PGBENCH = "/usr/lib/postgresql/15/bin/pgbench"
TRANSFER = """\\set id random(1, 100)
BEGIN;
UPDATE accounts SET balance = balance + 1 WHERE id = :id;
INSERT INTO history (account) VALUES (:id);
SELECT balance FROM accounts WHERE id = :id;
END;
"""


def high(listening):
    """The same socket under a descriptor that the shell of `passing` does not use."""
    with listening:
        return socket.socket(fileno=fcntl.fcntl(listening.fileno(), fcntl.F_DUPFD_CLOEXEC, 100))


def listening_socket(backlog=4096):
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", 0))
    listening.listen(backlog)
    return high(listening)


def make_accounts(server):
    with server.connect() as connection:
        connection.run("CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)")
        connection.run("CREATE TABLE history (number serial PRIMARY KEY, account int)")
        connection.run("INSERT INTO accounts SELECT n, 0 FROM generate_series(1, 100) n")


@contextlib.contextmanager
def pgbench_of_new_connections(port, seconds):
    """pgbench with one connection for each transaction. At the end: it has lost none. Each client has a thread, because pgbench connects
    synchronously: one that waits for the new process would hold up others, whose transactions the old process waits for."""
    folder = temporary_folder()
    with open(f"{folder}/transfer.sql", "w") as script:
        script.write(TRANSFER)
    command = [PGBENCH, "-C", "-n", "-c", "4", "-j", "4", "-T", str(seconds), "-f", f"{folder}/transfer.sql", "-h", "127.0.0.1", "-p", str(port),
               "-U", "postgres", "--max-tries=1000", "postgres"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PGSSLMODE": "disable"})
    try:
        yield child
        output = child.communicate(timeout=120)[0]
    finally:
        child.kill()
    assert child.returncode == 0, output
    assert "aborted" not in output and "number of failed transactions: 0 " in output, output
    child.transactions = int(output.split("number of transactions actually processed: ")[1].split()[0])


def check_accounts(server, child):
    with server.connect() as connection:
        assert connection.run("SELECT (SELECT sum(balance) FROM accounts), (SELECT count(*) FROM history)") == [[str(child.transactions)] * 2]


def test_a_restart_behind_passed_sockets_loses_no_connection(make_redis, make_server):
    server = make_server(redis=make_redis())
    make_accounts(server)
    server.stop()
    with listening_socket() as listening:
        server.sockets = (listening,)
        server.start()
        assert server.port == listening.getsockname()[1]
        with pgbench_of_new_connections(server.port, 6) as child:
            for _ in range(3):
                time.sleep(1)
                server.restart()
        assert child.transactions > 100
        check_accounts(server, child)


def test_a_new_process_takes_over_a_shared_port(make_redis, make_server):
    redis = make_redis()
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w") as file:
        file.write("[server]\nreuse_port = true\nunix_socket_directories = []\n")
    first = make_server("--config", f"{folder}/redquel.toml", redis=redis)
    make_accounts(first)
    port = first.port
    second = Redquel(os.path.dirname(first.binary), redis, "--config", f"{folder}/redquel.toml")
    second.listen = f"127.0.0.1:{port}"
    try:
        with pgbench_of_new_connections(port, 5) as child:
            time.sleep(1)
            second.start()
            assert second.port == port
            time.sleep(1)
            first.stop()
        assert child.transactions > 100
        check_accounts(second, child)
    finally:
        second.stop()


def test_sockets_that_cannot_serve_are_refused(make_redis, make_server):
    redis = make_redis()
    server = make_server(redis=redis)
    server.stop()
    datagram = high(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    deaf = high(socket.socket())
    every = socket.socket()
    every.bind(("0.0.0.0", 0))
    every.listen()
    mixed = socket.socket(socket.AF_INET6)
    mixed.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    mixed.bind(("::", 0))
    mixed.listen()
    for passed, reason in ((datagram, "is no listening stream socket"), (deaf, "is no listening stream socket"),
                           (high(every), "refusing to listen on 0.0.0.0: no role has a password"), (high(mixed), "set BindIPv6Only=ipv6-only")):
        server.sockets = (passed,)
        try:
            server.start()
            assert False, reason
        except RuntimeError as error:
            assert reason in str(error), error
        passed.close()
    # Sockets for another process are not taken.
    server.sockets = ()
    server.environment.update(LISTEN_PID="1", LISTEN_FDS="1")
    server.start()
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def test_unix_sockets_and_several_sockets_are_passed(make_redis, make_server):
    server = make_server(redis=make_redis())
    server.stop()
    path = f"{temporary_folder()}/.s.PGSQL.5433"
    local = socket.socket(socket.AF_UNIX)
    local.bind(path)
    local.listen()
    with listening_socket() as first, listening_socket() as second, high(local) as third:
        server.sockets = (first, second, third)
        server.start()
        for address in (first.getsockname(), second.getsockname()):
            with pgwire.Connection(address) as connection:
                assert connection.run("SELECT 1") == [["1"]]
        answer = subprocess.run(["psql", "-XAt", "-h", os.path.dirname(path), "-p", "5433", "-U", "postgres", "-c", "SELECT inet_client_addr() IS NULL"],
                                capture_output=True, text=True, timeout=60)
        assert answer.stdout == "t\n", answer.stderr
        server.stop()
        assert os.path.exists(path), "the socket's file belongs to the service manager"


def test_a_transaction_of_an_active_client_outlives_the_drain(make_redis, make_server):
    server = make_server(redis=make_redis())
    make_accounts(server)
    with server.connect() as active, server.connect() as silent, server.connect() as idle:
        for connection in (active, silent):
            connection.run("BEGIN")
        active.run("UPDATE accounts SET balance = 7 WHERE id = 1")
        silent.run("UPDATE accounts SET balance = 7 WHERE id = 2")
        idle.run("SELECT 1")
        server.process.send_signal(signal.SIGTERM)
        for connection in (idle, silent):
            while not connection.has_input(0.1):
                active.run("SELECT balance FROM accounts")
            kind, payload = connection.read()
            assert kind == b"E" and b"57P01" in payload, (kind, payload)
        active.run("UPDATE accounts SET balance = balance + 1 WHERE id = 1")
        assert active.query("COMMIT")[-1].tag == "COMMIT"
        try:
            active.run("SELECT 1")
            assert False, "the session goes on behind its transaction"
        except (ServerError, ConnectionClosed) as error:
            assert getattr(error, "sqlstate", "57P01") == "57P01", error
    server.stop()
    server.start()
    with server.connect() as connection:
        assert connection.run("SELECT id, balance FROM accounts WHERE id < 3 ORDER BY id") == [["1", "8"], ["2", "0"]]


def test_a_second_signal_cancels_running_statements(make_redis, make_server):
    server = make_server(redis=make_redis())
    with server.connect() as connection:
        connection.send(pgwire.query("SELECT pg_sleep(600)"))
        wait_for(lambda: sessions_of(server, "pg_sleep") == 1)
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "shutting down: 1 sessions have not ended: " in server.process.log() and "(active)" in server.process.log())
        server.process.send_signal(signal.SIGTERM)
        connection.read_until(b"E")
        wait_for(lambda: "running statements are cancelled" in server.process.log())
    server.stop()


def sessions_of(server, text):
    with server.connect() as connection:
        return int(connection.run(f"SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%{text}%' AND pid <> pg_backend_pid()")[0][0])


def status_of(port, page):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_in_the_drain_delay_clients_are_accepted_and_readiness_is_denied(make_redis, make_server):
    folder = temporary_folder()
    with listening_socket() as probe:
        status = probe.getsockname()[1]
    with open(f"{folder}/redquel.toml", "w") as file:
        file.write(f'[server]\ndrain_delay = 3600\n[status]\nlisten = "127.0.0.1:{status}"\n')
    server = make_server("--config", f"{folder}/redquel.toml", redis=make_redis())
    wait_for(lambda: status_of(status, "/health/ready") == 200)
    server.process.send_signal(signal.SIGTERM)
    wait_for(lambda: status_of(status, "/health/ready") == 503)
    assert status_of(status, "/health/live") == 200
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]
    server.stop()  # the second signal ends the delay


def test_the_service_manager_hears_of_start_reload_life_and_end(make_redis, make_server):
    folder = temporary_folder()
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(f"{folder}/notify")
    manager.settimeout(60)
    heard = []

    def hear_until(line):
        while not any(line in message.split("\n") for message in heard):
            heard.append(manager.recv(4096).decode())

    with open(f"{folder}/redquel.toml", "w") as file:
        file.write("")
    environment = {"NOTIFY_SOCKET": f"{folder}/notify", "WATCHDOG_USEC": "200000"}
    server = make_server("--config", f"{folder}/redquel.toml", redis=make_redis(), environment=environment)
    hear_until("READY=1")
    hear_until("WATCHDOG=1")
    heard.clear()
    server.process.send_signal(signal.SIGHUP)
    hear_until("RELOADING=1")
    assert any(line.startswith("MONOTONIC_USEC=") for message in heard for line in message.split("\n"))
    hear_until("READY=1")
    heard.clear()
    server.stop()
    hear_until("STOPPING=1")
    manager.close()


def test_a_watchdog_for_another_process_is_left_alone(make_redis, make_server):
    folder = temporary_folder()
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(f"{folder}/notify")
    manager.settimeout(60)
    make_server(redis=make_redis(), environment={"NOTIFY_SOCKET": f"{folder}/notify", "WATCHDOG_USEC": "200000", "WATCHDOG_PID": "1"})
    assert manager.recv(4096).startswith(b"READY=1")
    manager.settimeout(1)
    try:
        message = manager.recv(4096)
        assert False, f"the watchdog belongs to another process: {message}"
    except TimeoutError:
        pass
    manager.close()


def test_the_version_names_the_commit(make_redis, make_server):
    server = make_server(redis=make_redis())
    answer = subprocess.run([server.binary, "--version"], capture_output=True, text=True, timeout=60, env={**os.environ, **sanitizer_environment()})
    words = answer.stdout.split()
    assert answer.returncode == 0 and words[0] == "redquel" and words[2] == "(commit" and len(words) == 4, answer.stdout
    commit = words[3].rstrip(")")
    assert commit == "unknown" or (len(commit) == 12 and int(commit, 16) >= 0), commit
