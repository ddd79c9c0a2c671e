"""The sockets that redquel listens on: TCP addresses and unix sockets."""
import glob
import os
import signal
import socket
import stat
import subprocess

from harness.pgwire import Connection
from harness.processes import Process, temporary_folder
from harness.programs import run
from harness.servers import SESSION, tail
from harness.waiting import wait_for

CONCURRENT = True


def configuration(text):
    path = f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def with_unix_socket(make_server, redis, *options, permissions="0o777", group=""):
    """A server with a unix socket too, and the folder of that."""
    folder = temporary_folder()
    path = configuration(f'[server]\nunix_socket_directories = "{folder}"\nunix_socket_permissions = {permissions}\nunix_socket_group = "{group}"\n')
    return make_server("--config", path, *options, redis=redis), folder


def socket_path(server, folder):
    return f"{folder}/.s.PGSQL.{server.port}"


def test_unix_sockets(make_server, make_redis):
    server, folder = with_unix_socket(make_server, make_redis(), permissions="0o700", group=str(os.getgid()))
    path = socket_path(server, folder)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
    with open(path + ".lock", encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert (int(lines[0]), int(lines[3]), lines[4]) == (server.process.pid, server.port, folder)
    with Connection(path, **SESSION) as connection:
        assert connection.run("SELECT inet_client_addr(), inet_client_port(), inet_server_addr(), inet_server_port()") == [[None] * 4]
        assert connection.run("SELECT client_addr, client_port FROM pg_stat_activity WHERE pid = pg_backend_pid()") == [[None, "-1"]]
        assert connection.run("SHOW unix_socket_directories") == [[folder]]
        assert connection.run("SHOW unix_socket_permissions") == [["0700"]]
    with server.connect() as connection:
        assert connection.run("SELECT host(client_addr), client_port > 0 FROM pg_stat_activity WHERE pid = pg_backend_pid()") == [["127.0.0.1", "t"]]
    server.stop()
    assert os.listdir(folder) == []


def test_psql_and_psycopg_use_unix_sockets(make_server, make_redis):
    server, folder = with_unix_socket(make_server, make_redis())
    assert run(["psql", "-XAtq", "-h", folder, "-p", str(server.port), "-U", "postgres", "-d", "postgres", "-c", "SELECT 41 + 1"]) == "42\n"
    said = run(["psql", "-XAtq", "-h", folder, "-p", str(server.port), "-U", "postgres", "-d", "postgres", "-c", "\\conninfo"])
    assert f'via socket in "{folder}" at port "{server.port}"' in said, said
    script = (f"import psycopg2; connection = psycopg2.connect(host={folder!r}, port={server.port}, user='postgres', dbname='postgres'); "
              "cursor = connection.cursor(); cursor.execute('SELECT %s', (42,)); print(cursor.fetchone())")
    assert run(["/usr/bin/python3", "-c", script]) == "(42,)\n"


def test_no_tls_on_unix_sockets(make_server, make_redis):
    server, folder = with_unix_socket(make_server, make_redis())
    said = run(["psql", "-XAtq", "-h", folder, "-p", str(server.port), "-U", "postgres", "-d", "postgres", "-c", "SELECT ssl FROM pg_stat_ssl"],
               env={"PGSSLMODE": "require"})
    assert said == "f\n", said


def test_sockets_of_dead_servers_are_taken_over(make_server, make_redis):
    redis = make_redis()
    server, folder = with_unix_socket(make_server, redis)
    port, path = server.port, socket_path(server, folder)
    config = server.options[1]
    server.kill()
    assert os.path.exists(path) and os.path.exists(path + ".lock")
    server.process = Process([server.binary, "--config", config, "--listen", f"127.0.0.1:{port}", "--redis", redis.url], f"{server.folder}/again.log",
                             environment=server.environment, cwd=server.folder)
    server.process.wait_for_line("^ready ")
    with Connection(path, **SESSION) as connection:
        assert connection.run("SELECT 1") == [["1"]]


def test_sockets_of_living_servers_are_refused(make_server, make_redis, build):
    redis = make_redis()
    server, folder = with_unix_socket(make_server, redis)
    # The port is free on another address: only the unix socket conflicts.
    done = subprocess.run([f"{build}/redquel", "--config", server.options[1], "--listen", f"127.0.0.2:{server.port}", "--redis", redis.url],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and f'another server uses "{socket_path(server, folder)}"' in done.stderr, done.stderr
    with Connection(socket_path(server, folder), **SESSION) as connection:
        assert connection.run("SELECT 1") == [["1"]]


def test_another_program_at_the_place_is_refused(make_redis, build):
    folder = temporary_folder()
    listener = socket.socket(socket.AF_UNIX)
    port = free_port()
    listener.bind(f"{folder}/.s.PGSQL.{port}")
    listener.listen()
    path = configuration(f'[server]\nlisten = "127.0.0.1:{port}"\nunix_socket_directories = "{folder}"\n')
    done = subprocess.run([f"{build}/redquel", "--config", path, "--redis", make_redis().url], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "another server uses" in done.stderr, done.stderr
    assert os.listdir(folder) == [f".s.PGSQL.{port}"]  # the lock is gone, the other's socket stays
    listener.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_paths_that_are_too_long(make_redis, build):
    folder = f"{temporary_folder()}/{'x' * 100}"
    os.mkdir(folder)
    path = configuration(f'[server]\nunix_socket_directories = "{folder}"\n')
    done = subprocess.run([f"{build}/redquel", "--config", path, "--listen", "127.0.0.1:0", "--redis", make_redis().url], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 1 and "is too long (maximum 107 bytes)" in done.stderr, done.stderr


def test_several_addresses(make_server, make_redis):
    ports = [free_port() for _ in range(3)]
    server = make_server("--listen", f"127.0.0.2:{ports[0]},[::1]:{ports[1]}", "--listen", f"127.0.0.3:{ports[2]}", redis=make_redis())
    for address in (server.address, ("127.0.0.2", ports[0]), ("::1", ports[1]), ("127.0.0.3", ports[2])):
        with Connection(address, **SESSION) as connection:
            assert connection.run("SELECT host(inet_server_addr()), inet_server_port()") == [[address[0], str(address[1])]]
            assert connection.run("SHOW listen_addresses") == [["127.0.0.1,127.0.0.2,::1,127.0.0.3"]]
            assert connection.run("SHOW port") == [[str(server.port)]]


def test_addresses_of_both_versions_share_a_port(make_server, make_redis):
    """IPV6_V6ONLY: the address of one version does not take the port of the other."""
    port = free_port()
    server = make_server("--listen", f"[::1]:{port},127.0.0.1:{port}", redis=make_redis())
    for host in ("::1", "127.0.0.1"):
        with Connection((host, port), **SESSION) as connection:
            assert connection.run("SELECT host(inet_client_addr())") == [[host]]
    assert server.alive()


def test_addresses_beyond_loopback_are_refused(build, make_redis):
    redis = make_redis()
    for address in ("0.0.0.0:0", "[::]:0", "*:0"):
        done = subprocess.run([f"{build}/redquel", "--listen", address, "--redis", redis.url], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "refusing to listen" in done.stderr, done.stderr


def test_loopback_until_there_is_a_password(make_redis, build):
    child = subprocess.Popen([f"{build}/redquel", "--listen", "0.0.0.0:0", "--loopback-until-password", "--redis", make_redis().url],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert child.stdout.readline().startswith("ready 127.0.0.1:")
    finally:
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0


def test_only_unix_sockets(make_redis, build):
    folder = temporary_folder()
    path = configuration(f'[server]\nlisten = []\nunix_socket_directories = ["{folder}"]\n')
    child = subprocess.Popen([f"{build}/redquel", "--config", path, "--redis", make_redis().url], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert child.stdout.readline() == f"ready {folder}/.s.PGSQL.5433\n"
        with Connection(f"{folder}/.s.PGSQL.5433", **SESSION) as connection:
            assert connection.run("SELECT 1") == [["1"]]
    finally:
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
    assert glob.glob(f"{folder}/.s*") == []


def test_keys_that_need_a_restart_are_named(make_server, make_redis):
    path = configuration("[limits]\nmax_connections = 100\n")
    server = make_server("--config", path, redis=make_redis())
    pending = "SELECT name FROM pg_settings WHERE pending_restart ORDER BY name"
    with server.connect() as connection:
        assert connection.run(pending) == []
        with open(path, "w", encoding="utf-8") as file:
            file.write('[limits]\nmax_connections = 200\nwork_mem = 1048576\n[redis]\naof_repair = false\n')
        assert connection.run("SELECT pg_reload_conf()") == [["t"]]
        wait_for(lambda: connection.run(pending) == [["max_connections"]])
        assert "a restart is needed for redis.aof_repair, limits.max_connections" in server.process.log(), tail(server.process.log())
        assert connection.run("SHOW max_connections") == [["100"]]
        with server.connect() as other:
            assert other.run("SHOW work_mem") == [["1MB"]]
        with open(path, "w", encoding="utf-8") as file:
            file.write("[limits]\nmax_connections = 100\nwork_mem = 'much'\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: f"{path}:3: limits.work_mem: expected bytes from" in server.process.log())
        assert connection.run(pending) == [["max_connections"]]  # as before the wrong file
