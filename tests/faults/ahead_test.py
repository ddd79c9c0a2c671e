"""Rows of a table that its transaction has made or emptied go to Redis before the commit: other sessions do not see them until then, and without
a commit none of them stays."""
import signal

from harness.keyspace import end_leases, leases, wait_for_renewals
from harness.keyspace import keys_of_tables as keys
from harness.pgwire import ServerError
from harness.servers import sharing_redis as make
from harness.waiting import wait_for

CONCURRENT = True
ROWS = 12_000


def copy(connection, count=ROWS, table="ahead", more=""):
    data = "".join(f"{n}\tword {n % 7}\n" for n in range(count)) + more
    result, = connection.query(f"COPY {table} FROM STDIN", data.encode())
    if result.error:
        raise ServerError(result.error)


PLAIN = "CREATE TABLE ahead (id integer PRIMARY KEY, word text); CREATE INDEX ON ahead (word)"


def check(connection, count, table="ahead"):
    assert connection.run(f"SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE word = 'word 3') FROM {table}") == [
        [str(count), str(count), str(sum(1 for n in range(count) if n % 7 == 3))]]
    assert connection.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []


def test_no_session_sees_rows_before_the_commit(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    with server.connect() as writer, server.connect() as reader:
        writer.run("BEGIN; " + PLAIN)
        copy(writer)
        with redis.connect() as raw:
            assert raw("ZCARD", "ahead:zset") == ROWS
            assert raw("HLEN", "redquel:removals") == 1
        assert reader.run_error("SELECT * FROM ahead")["C"] == "42P01"
        assert writer.run("SELECT count(*) FROM ahead WHERE word = 'word 3'") == [[str(len(range(3, ROWS, 7)))]]
        writer.run("UPDATE ahead SET word = 'word 3' WHERE word = 'word 4'; UPDATE ahead SET word = 'word 4' WHERE id % 7 = 4")
        writer.run("DELETE FROM ahead WHERE id = 5; INSERT INTO ahead VALUES (5, 'word 5')")
        writer.run("COMMIT")
        check(reader, ROWS)
    assert keys(redis)[1] == 0


def test_a_rollback_leaves_no_keys(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    before = keys(redis)
    with server.connect() as writer:
        for ending in ("ROLLBACK", "SELECT 1/0; ROLLBACK"):
            writer.run("BEGIN; CREATE TABLE ahead (id integer, word text, n serial)")
            writer.run("INSERT INTO ahead SELECT i, 'word ' || i % 7 FROM generate_series(1, 9000) i")
            writer.query(ending)
            writer.query("ROLLBACK")
            assert keys(redis) == before
        writer.run("BEGIN; " + PLAIN)
        writer.close()
    wait_for(lambda: keys(redis) == before, what="an end without a word that leaves nothing")


def test_an_error_in_the_middle(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    before = keys(redis)
    with server.connect() as writer:
        writer.run("BEGIN; " + PLAIN)
        try:
            copy(writer, more="17\ttwice\n")
        except ServerError as error:
            assert error.sqlstate == "23505", error
        else:
            raise AssertionError("17 is there twice")
        assert writer.query("COMMIT")[0].tag == "ROLLBACK"
    assert keys(redis) == before


def test_truncate_and_fill(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    with server.connect() as writer, server.connect() as reader:
        writer.run(PLAIN)
        copy(writer, 100)
        writer.run("BEGIN; TRUNCATE ahead")
        copy(writer)
        check(reader, 100)
        writer.run("ROLLBACK")
        check(reader, 100)
        assert keys(redis)[2] == ["ahead"], keys(redis)[2]
        writer.run("BEGIN; TRUNCATE ahead")
        copy(writer)
        writer.run("COMMIT")
        check(reader, ROWS)
        assert keys(redis)[1] == 0


def test_a_table_dropped_in_its_transaction_leaves_no_keys(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    before = keys(redis)
    with server.connect() as writer:
        writer.run("BEGIN; " + PLAIN)
        copy(writer)
        writer.run("DROP TABLE ahead; COMMIT")
    assert keys(redis) == before


def test_savepoints(make_redis, make_server):
    redis, server = make(make_redis, make_server)
    with server.connect() as writer:
        writer.run("BEGIN; " + PLAIN)
        copy(writer, 3000)
        writer.run("SAVEPOINT a; DELETE FROM ahead WHERE id < 10; ROLLBACK TO a")
        writer.run("INSERT INTO ahead SELECT i, 'word ' || i % 7 FROM generate_series(3000, 5999) i; ROLLBACK TO a")
        writer.run("INSERT INTO ahead SELECT i, 'word ' || i % 7 FROM generate_series(3000, 3999) i; COMMIT")
        check(writer, 4000)


def test_definitions_of_others(make_redis, make_server):
    redis, server, other_server = make(make_redis, make_server, 2)
    with server.connect() as writer, other_server.connect() as other:
        before = keys(redis)
        writer.run("BEGIN; " + PLAIN)
        copy(writer)
        other.run("CREATE TABLE other (i integer)")  # not in the way
        writer.run("UPDATE ahead SET word = 'word 3' WHERE id = 0; UPDATE ahead SET word = 'word 0' WHERE id = 0; COMMIT")
        check(other, ROWS)
        other.run("DROP TABLE other; DROP TABLE ahead")
        assert keys(redis) == before
        writer.run("BEGIN; " + PLAIN)
        copy(writer)
        other.run("CREATE TABLE ahead (i integer)")  # in the way
        assert writer.run_error("COMMIT")["C"] == "40001"
        assert other.run("SELECT * FROM ahead") == []
        other.run("DROP TABLE ahead")
        assert keys(redis) == before


def test_vacuum_leaves_an_open_transaction_alone(make_redis, make_server):
    redis, server, other_server = make(make_redis, make_server, 2, lock_lease=12_000)
    with server.connect() as writer, other_server.connect() as other:
        writer.run("BEGIN; " + PLAIN)
        copy(writer)
        lease, = leases(redis)
        wait_for_renewals(redis, lease, 2)
        other.run("VACUUM")
        writer.run("COMMIT")
        check(other, ROWS)


def test_a_killed_process(make_redis, make_server):
    redis, server, other_server = make(make_redis, make_server, 2)
    with other_server.connect() as other:
        before = keys(redis)
        writer = server.connect()
        writer.run("BEGIN; " + PLAIN)
        copy(writer)
        server.kill()
        other.run("VACUUM")
        assert keys(redis)[1] == 1, keys(redis)[1]
        end_leases(redis)
        other.run("VACUUM")
        assert keys(redis) == before, keys(redis)[1:]
        other.run(PLAIN)
        copy(other, 50)
        check(other, 50)


def test_a_paused_process_does_not_commit_rows_that_were_cleared(make_redis, make_server):
    redis, server, other_server = make(make_redis, make_server, 2)
    with server.connect() as writer, other_server.connect() as other:
        before = keys(redis)
        writer.run("BEGIN; " + PLAIN)
        copy(writer)
        server.process.send_signal(signal.SIGSTOP)
        try:
            end_leases(redis)
            other.run("VACUUM")
        finally:
            server.process.send_signal(signal.SIGCONT)
        error = writer.run_error("COMMIT")
        assert error["C"] == "40001", error
        assert other.run_error("SELECT * FROM ahead")["C"] == "42P01"
        assert keys(redis) == before, keys(redis)[1:]
