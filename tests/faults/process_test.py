"""How the process begins and ends: locks, signals, the embedded Redis."""
import os
import signal
import subprocess
import threading
import time

from harness.pgwire import ConnectionClosed
from harness.processes import temporary_folder
from harness.servers import wait_until_gone
from harness.waiting import wait_for

CONCURRENT = True


def test_one_redquel_per_data_directory(make_server):
    server = make_server()
    second = subprocess.run([server.binary, "--embedded", "--data-dir", server.data_dir, "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                            timeout=120)
    assert second.returncode not in (0, 99), second.returncode
    assert str(server.process.pid) in second.stderr, second.stderr
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def refusal(binary, *options):
    """What a redquel says that ends at once."""
    end = subprocess.run([binary, "--listen", "127.0.0.1:0", *options], capture_output=True, text=True, timeout=120)
    assert end.returncode == 1 and not end.stdout, (end.returncode, end.stdout)
    return end.stderr


def test_a_start_over_an_unsuitable_redis_is_refused(make_redis, build):
    redis, binary = make_redis(), os.path.join(build, "redquel")
    assert "has no database 99" in refusal(binary, "--redis", f"{redis.url}?db=99")
    assert "WRONGPASS" in refusal(binary, "--redis", redis.url.replace("unix://", "unix://nobody:wrong@"))
    with redis.connect() as raw:
        raw("CONFIG", "SET", "requirepass", "secret")
        assert "NOAUTH" in refusal(binary, "--redis", redis.url)
        raw("CONFIG", "SET", "requirepass", "")


def test_a_redis_that_is_not_there_yet(build):
    command = [os.path.join(build, "redquel"), "--listen", "127.0.0.1:0", "--redis", f"unix://{temporary_folder()}/none.sock"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("ready ")
    finally:
        process.terminate()
        log = process.communicate(timeout=60)[1]
    assert process.returncode == 0 and "could not connect to Redis" in log, log


def test_data_outlives_the_process(make_server):
    server = make_server()
    with server.connect() as connection:
        connection.run("CREATE TABLE kept (id integer PRIMARY KEY, v text)")
        connection.run("INSERT INTO kept SELECT g, 'v' || g FROM generate_series(1, 1000) AS s(g)")
    server.restart()
    with server.connect() as connection:
        assert connection.run("SELECT count(*), max(v) FROM kept") == [["1000", "v999"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('kept')") == []


def test_embedded_redis_ends_with_a_killed_redquel(make_server):
    server = make_server()
    child = server.embedded_redis
    server.kill()
    assert wait_until_gone(child, 60), "the embedded Redis outlives its redquel"


def test_embedded_redis_needs_no_port(make_server):
    server = make_server()
    with server.redis_connection() as raw:
        assert raw("CONFIG", "GET", "port") == ["port", "0"]
        assert raw("CONFIG", "GET", "maxmemory-policy") == ["maxmemory-policy", "noeviction"]
        assert raw("CONFIG", "GET", "appendonly") == ["appendonly", "yes"]


def test_a_long_data_directory(make_server):
    folder = os.path.join(temporary_folder(), "a" * 60, "b" * 60)
    server = make_server(data_dir=folder)
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def write_at_once(server):
    """What is acknowledged is in the append-only file: its Redis will be killed."""
    with server.redis_connection() as raw:
        raw("CONFIG", "SET", "appendfsync", "always")


def test_a_torn_append_only_file(make_server):
    """Redis before valkey#4342 truncates inside a MULTI block and loses what follows at the second restart."""
    server = make_server()
    with server.connect() as connection:
        connection.run("CREATE TABLE torn (id integer PRIMARY KEY, v text); CREATE INDEX torn_v ON torn (v)")
        connection.run("INSERT INTO torn SELECT g, 'before' FROM generate_series(1, 100) AS s(g)")
    for bytes_cut in (1, 40, 700):
        write_at_once(server)
        with server.connect() as connection:
            connection.run("INSERT INTO torn SELECT g, 'half' FROM generate_series(1001, 1050) AS s(g)")
        child = server.embedded_redis
        server.kill()
        assert wait_until_gone(child, 60)
        folder = os.path.join(server.data_dir, "appendonlydir")
        newest = max((os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".incr.aof")),
                     key=lambda path: int(path.rsplit(".", 3)[-3]))
        os.truncate(newest, os.path.getsize(newest) - bytes_cut)
        for turn in range(2):
            server.start()
            write_at_once(server)
            with server.connect() as connection:
                found = connection.run("SELECT * FROM redquel.check_indexes('torn')")
                assert found == [], found[:5]
                found = connection.run("SELECT count(*) FROM torn WHERE v = 'before'")
                assert found == [["100"]], found
                found = connection.run("SELECT count(*) FROM torn WHERE v = 'half'")
                assert found[0][0] in ("0", "50"), found
                connection.run(f"INSERT INTO torn VALUES ({bytes_cut * 10_000 + turn}, 'after {bytes_cut}')")
            server.kill() if turn == 0 else server.stop()
        server.start()
        with server.connect() as connection:
            found = connection.run(f"SELECT count(*) FROM torn WHERE v = 'after {bytes_cut}'")
            assert found == [["2"]], f"acknowledged rows are lost: {found}"
            connection.run("DELETE FROM torn WHERE v = 'half'")


def test_graceful_end_finishes_running_statements(make_server, make_redis):
    server = make_server(redis=make_redis())
    with server.connect() as connection, server.connect() as idle:
        connection.run("CREATE TABLE ending (id integer PRIMARY KEY)")
        answers = []

        def write():
            number = 0
            try:
                while True:
                    connection.run(f"INSERT INTO ending VALUES ({number})")
                    number += 1
            except ConnectionClosed:
                pass
            except Exception as error:
                answers.append(error)
            answers.append(number)

        thread = threading.Thread(target=write)
        thread.start()
        time.sleep(0.3)
        server.stop()
        thread.join()
        acknowledged = answers[-1]
        assert all(getattr(error, "sqlstate", None) == "57P01" for error in answers[:-1]), answers
        try:
            kind, payload = idle.read()
            assert kind == b"E" and b"57P01" in payload, (kind, payload)
        except ConnectionClosed:
            pass
    server.start()
    with server.connect() as connection:
        found = int(connection.run("SELECT count(*) FROM ending")[0][0])
        assert found in (acknowledged, acknowledged + 1), (found, acknowledged)


def test_sigint_stops_the_server(make_server):
    server = make_server()
    child = server.embedded_redis
    process, server.process = server.process, None
    assert process.stop(signal.SIGINT) == 0, process.log()
    assert wait_until_gone(child, 60)


def test_wrong_options(build):
    redquel = os.path.join(build, "redquel")
    for options in (["--no-such-option"], ["--listen", "nonsense"], ["--redis", "ftp://nowhere"], ["--config", "/does/not/exist.toml"],
                    ["--listen", "127.0.0.1:99999"]):
        done = subprocess.run([redquel, *options], capture_output=True, text=True, timeout=120, cwd=temporary_folder())
        assert done.returncode not in (0, 99) and done.returncode > 0, (options, done.returncode)
        assert done.stderr or done.stdout, options


def test_a_port_that_is_taken(make_server, make_redis):
    redis = make_redis()
    server = make_server(redis=redis)
    done = subprocess.run([server.binary, "--redis", redis.url, "--listen", f"127.0.0.1:{server.port}"], capture_output=True, text=True, timeout=120)
    assert done.returncode > 0 and str(server.port) in done.stderr, done.stderr


def test_a_redis_that_evicts(make_server, make_redis):
    """Whose policy it is to drop any key: it is only read until it has another one, unless that is allowed."""
    redis = make_redis("--maxmemory-policy", "allkeys-lru")
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w") as file:
        file.write("[redis]\nallow_eviction = true\n")
    allowed = make_server("--config", f"{folder}/redquel.toml", redis=redis)
    with allowed.connect() as connection:
        connection.run("CREATE TABLE kept (id integer PRIMARY KEY)")
        connection.run("INSERT INTO kept VALUES (1)")
    assert "maxmemory-policy allkeys-lru" in allowed.process.log(), allowed.process.log()
    server = make_server(redis=redis)
    with server.connect() as connection, redis.connect() as raw:
        for statement in ("INSERT INTO kept VALUES (2)", "DELETE FROM kept", "CREATE TABLE other (id integer)", "CREATE SEQUENCE numbers"):
            error = connection.run_error(statement)
            assert error["C"] == "25006" and "allkeys-lru" in error["D"] and "noeviction" in error["H"], error
        assert connection.run("SELECT count(*), min(id) FROM kept WHERE id > 0") == [["1", "1"]]
        raw("CONFIG", "SET", "maxmemory-policy", "noeviction")
        wait_for(lambda: not connection.query("INSERT INTO kept VALUES (2)")[0].error, what="an end of only reading")
        assert connection.run("SELECT count(*) FROM kept") == [["2"]]
    assert "maxmemory-policy allkeys-lru" in server.process.log(), server.process.log()
    quiet = make_server(redis=make_redis("--maxmemory-policy", "volatile-lru"))
    with quiet.connect() as connection:
        connection.run("CREATE TABLE kept (id integer PRIMARY KEY)")
    assert "maxmemory-policy" not in quiet.process.log(), quiet.process.log()
