"""A Redis that does not answer, that forgets its scripts, and Redis users with few rights."""
import os
import signal
import subprocess
import threading

from harness.pgwire import query
from harness.servers import run_when_it_is_back, sharing_redis
from harness.waiting import wait_for

SLOW = True


def test_reads_end_while_redis_is_held(make_redis, make_server):
    """All sessions of the connection, also those whose statement was sent before; what writes is told its outcome."""
    redis = make_redis()
    server = make_server("--threads", "1", redis=redis)
    with server.connect() as first, server.connect() as second, server.connect() as writer:
        first.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)")
        for connection in (first, second, writer):
            connection.run("SELECT * FROM t WHERE id = 1; UPDATE t SET v = 1 WHERE id = 1")
        redis.process.send_signal(signal.SIGSTOP)
        try:
            writer.send(query("UPDATE t SET v = 2 WHERE id = 1"))
            wait_for(lambda: writer.has_input(0.2) or True)
            first.send(query("SELECT v FROM t WHERE id = 1"))
            error = second.run_error("SELECT v FROM t WHERE id = 1")
            assert error["C"] == "57P03", error
            result = first.results()[-1]
            assert result.sqlstate == "57P03", result.error
            # A batch that was not sent may be refused, too: none of it takes place.
            error = second.run_error("UPDATE t SET v = 3 WHERE id = 1")
            assert error["C"] == "57P03", error
            assert not writer.has_input()
        finally:
            redis.process.send_signal(signal.SIGCONT)
        assert not writer.results()[-1].error
        found = run_when_it_is_back(second, "SELECT v FROM t WHERE id = 1")
        assert found == [["2"]], found


def test_scripts_that_are_flushed_all_the_time(make_redis, make_server):
    redis, server = sharing_redis(make_redis, make_server)
    ended = threading.Event()

    def flush():
        with redis.connect() as raw:
            while not ended.is_set():
                raw.pipeline([("SCRIPT", "FLUSH")] * 50)

    storm = [threading.Thread(target=flush, daemon=True) for _ in range(2)]
    with server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, v int, u text UNIQUE); CREATE INDEX ON t (v)")
        for thread in storm:
            thread.start()
        try:
            for i in range(200):
                connection.run(f"INSERT INTO t VALUES ({i}, {i % 7}, 'u{i}')")
                connection.run(f"BEGIN; UPDATE t SET v = v + 1 WHERE id = {i}; SELECT * FROM t WHERE v = 3; COMMIT")
        finally:
            ended.set()
            for thread in storm:
                thread.join()
        found = connection.run("SELECT count(*) FROM t")
        assert found == [["200"]], found


def refusal(binary, url):
    """What a redquel says that ends at once."""
    end = subprocess.run([binary, "--listen", "127.0.0.1:0", "--redis", url], capture_output=True, text=True, timeout=120)
    assert end.returncode == 1 and not end.stdout, (end.returncode, end.stdout, end.stderr)
    lines = end.stderr.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def user(redis, *rules):
    """The address of Redis for a user with these rules."""
    with redis.connect() as raw:
        raw("ACL", "SETUSER", "app", "reset", "on", ">secret", *rules)
    return redis.url.replace("unix://", "unix://app:secret@")


def test_a_user_without_a_needed_command_is_refused_at_start(make_redis, build):
    redis, binary = make_redis(), os.path.join(build, "redquel")
    for rule, name in {"-multi": "MULTI", "-get": "GET", "-evalsha": "EVALSHA", "-script|load": "SCRIPT", "-hset": "HSET", "-@write": "HSET",
                       "-@scripting": "EVALSHA"}.items():
        said = refusal(binary, user(redis, "~*", "&*", "+@all", rule))
        assert name in said and "NOPERM" in said, (rule, said)
    said = refusal(binary, user(redis, "~app:*", "&*", "+@all"))
    assert "NOPERM" in said, said
    with redis.connect() as raw:
        assert raw.keys("redquel:trial*") == []


def test_a_renamed_command_is_named(make_redis, build):
    redis, binary = make_redis("--rename-command", "EVALSHA", "hidden", "--rename-command", "HINCRBY", ""), os.path.join(build, "redquel")
    said = refusal(binary, redis.url)
    assert "EVALSHA, HINCRBY" in said and "unknown command" in said, said


def test_a_user_without_sort(make_redis, make_server):
    """Rows are read one by one where Redis may not sort them."""
    redis = make_redis()
    for rules in (["~*", "&*", "+@all", "-@dangerous", "+info"], ["~t", "~t:*", "~t~*", "~redquel:*", "&*", "+@all"]):
        url = user(redis, *rules)

        class Limited:
            """The same Redis as that user sees it."""

            def __init__(self):
                self.url = url

            def connect(self):
                return redis.connect()
        server = make_server(redis=Limited())
        with server.connect() as connection:
            connection.run("CREATE TABLE t (id int PRIMARY KEY, v int, w int); CREATE INDEX ON t (v)")
            connection.run("INSERT INTO t SELECT g, g % 5, g % 3 FROM generate_series(1, 6000) g")
            for condition, count in {"w = 1": 2000, "v = 3": 1200, "v IN (1, 2)": 2400, "id BETWEEN 100 AND 2999": 2900, "v = 1 AND w = 2": 400}.items():
                found = connection.run(f"SELECT count(w + v) FROM t WHERE {condition}")
                assert found == [[str(count)]], (condition, found)
            found = connection.run("SELECT id, w FROM t ORDER BY v DESC, id LIMIT 3")
            assert found == [["4", "1"], ["9", "0"], ["14", "2"]], found
            found = connection.run("SELECT id, w FROM t ORDER BY id OFFSET 3000 LIMIT 2")
            assert found == [["3001", "1"], ["3002", "2"]], found
            connection.run("DELETE FROM t WHERE w <> 1 AND id <= 4500")
            found = connection.run("SELECT count(*), min(w) FROM t")
            assert found == [["3000", "0"]], found
            connection.run("DELETE FROM t; DROP TABLE t")
