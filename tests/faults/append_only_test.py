"""A Redis of another owner, whose append-only file was torn: it cuts the file inside of a block and writes on behind that, so what it
acknowledges then is lost at its next start (before valkey#4342). redquel has the file rewritten before it writes."""
import glob
import os
import signal

from harness.pgwire import query
from harness.processes import children
from harness.servers import AWAY, connect_when_it_is_back, run_when_it_is_back
from harness.waiting import wait_for

CONCURRENT = True
OPTIONS = ("--appendonly", "yes", "--appendfsync", "always", "--aof-load-truncated", "yes")
BLOCK = (b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*1\r\n$5\r\nMULTI\r\n*4\r\n$4\r\nHSET\r\n$6\r\ntorn:1\r\n$1\r\nv\r\n$4\r\nhalf\r\n"
         b"*4\r\n$4\r\nHSET\r\n$6\r\ntorn:2\r\n$1\r\nv\r\n$4\r\nhalf\r\n*1\r\n$4\r\nEXEC\r\n")


def newest_file(redis):
    files = glob.glob(f"{redis.folder}/appendonlydir/*.incr.aof")
    return max(files, key=lambda path: int(path.rsplit(".", 3)[-3]))


def tear(redis, length):
    """As a kill in the middle of a write leaves it."""
    with open(newest_file(redis), "ab") as file:
        file.write(BLOCK[:length])


def make(make_redis, make_server):
    redis = make_redis(*OPTIONS)
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run("CREATE TABLE torn (id integer PRIMARY KEY, v text); CREATE INDEX ON torn (v)")
        connection.run("INSERT INTO torn VALUES (1, 'whole'), (2, 'whole')")
    return redis, server


def write(server, number):
    """Acknowledged, whatever it takes."""
    with connect_when_it_is_back(server) as connection:
        run_when_it_is_back(connection, f"INSERT INTO torn VALUES ({number}, 'after')")


def test_a_file_torn_at_every_byte_and_two_starts(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    acknowledged = 10
    for length in range(1, len(BLOCK), 1 if len(BLOCK) < 60 else 4):
        redis.kill()
        tear(redis, length)
        redis.start()
        write(server, acknowledged)
        acknowledged += 1
        redis.kill()
        redis.start()
        with redis.connect() as raw:
            rows = int(raw("ZCARD", "torn:zset"))
            assert rows == 2 + acknowledged - 10, f"{length} bytes: {rows} rows"
    with server.connect() as connection:
        found = run_when_it_is_back(connection, "SELECT count(*) FROM torn WHERE v = 'after'")
        assert found == [[str(acknowledged - 10)]], (found, acknowledged)
        assert connection.run("SELECT v FROM torn WHERE id < 3") == [["whole"], ["whole"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('torn')") == []


def test_reads_do_not_wait_for_the_rewrite(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    with server.connect() as connection:
        connection.run("INSERT INTO torn SELECT g, 'more' FROM generate_series(100, 119) g")
    redis.kill()
    redis.options = (*OPTIONS, "--rdb-key-save-delay", "200000")
    redis.start()

    def rewriting():
        with redis.connect() as raw:
            return raw.info("persistence")["aof_rewrite_in_progress"] == "1"

    with server.connect() as connection, server.connect() as other:
        wait_for(lambda: (connection.query("SELECT count(*) FROM torn WHERE id > 0"), rewriting())[1], what="a rewrite")
        rewriter, = children(redis.process.pid)
        os.kill(rewriter, signal.SIGSTOP)
        try:
            found = run_when_it_is_back(connection, "SELECT count(*) FROM torn WHERE id > 0")
            assert found == [["22"]], found
            other.send(query("INSERT INTO torn VALUES (7, 'after')"))
            assert not other.has_input(0.5), other.results()
            assert rewriting(), "it is not to end before"
        finally:
            os.kill(rewriter, signal.SIGCONT)
        # Those that have waited for long may be told to come again.
        error = other.results()[0].error
        assert not error or error["C"] in AWAY, error
    write(server, 8)
    assert not rewriting(), "the write has not waited"


def test_a_start_is_repaired_once(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    redis.kill()
    redis.start()
    write(server, 7)

    def rewrites():
        with redis.connect() as raw:
            return int(raw.info("persistence")["aof_rewrites"])

    before = rewrites()
    assert before >= 1, before
    make_server(redis=redis)
    write(server, 8)
    other = make_server(redis=redis)
    write(other, 9)
    assert rewrites() == before, (rewrites(), before)


def test_killed_while_it_rewrites_a_torn_file(make_redis, make_server):
    """Redis cuts the torn file then, which is not its last any more, and starts only when it is asked again."""
    redis, server = make(make_redis, make_server)
    with server.connect() as connection:
        connection.run("INSERT INTO torn SELECT g, 'more' FROM generate_series(100, 119) g")
    redis.kill()
    tear(redis, len(BLOCK) - 20)
    redis.options = (*OPTIONS, "--rdb-key-save-delay", "500000")
    redis.start()
    with redis.connect() as raw, connect_when_it_is_back(server) as connection:
        wait_for(lambda: (connection.query("SELECT count(*) FROM torn WHERE id > 0"),
                          raw.info("persistence")["aof_rewrite_in_progress"] == "1")[1], what="a rewrite")
    redis.kill()
    redis.options = OPTIONS
    try:
        redis.start()
    except RuntimeError:
        redis.start()
    write(server, 7)
    redis.kill()
    redis.start()
    with connect_when_it_is_back(server) as connection:
        found = run_when_it_is_back(connection, "SELECT count(*), count(*) FILTER (WHERE v = 'half') FROM torn")
        assert found == [["23", "0"]], found
        assert connection.run("SELECT v FROM torn WHERE id = 7") == [["after"]]
        assert connection.run("SELECT * FROM redquel.check_indexes('torn')") == []
