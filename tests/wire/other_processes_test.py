"""Sessions of other redquel processes over the same Redis: shown, cancelled, ended; and what other clients of Redis can do about that."""
import os
import signal

from harness import pgwire
from harness.pgwire import ConnectionClosed, ServerError
from harness.waiting import wait_for

CONCURRENT = True

LOOK = ("SELECT pid, usename, datname, application_name, state, query, client_addr IS NOT NULL, backend_start <= query_start, xact_start IS NOT NULL, backend_type "
        "FROM pg_stat_activity WHERE application_name IN ('here', 'there') ORDER BY application_name")


def two_servers(make_server, make_redis):
    redis = make_redis()
    return redis, make_server("--threads", "2", redis=redis), make_server("--threads", "2", redis=redis)


def test_both_processes_show_all_sessions(make_server, make_redis):
    _, one, two = two_servers(make_server, make_redis)
    with one.connect(application_name="here") as here, two.connect(application_name="there") as there, one.connect() as watcher, two.connect() as other:
        there.run("CREATE TABLE kept (id int PRIMARY KEY)")
        here.run("BEGIN; SELECT 'wörd'")
        there.send(pgwire.query("SELECT pg_sleep(600)"))
        pids = [here.run("SELECT pg_backend_pid()")[0][0]]
        for side in (watcher, other):
            wait_for(lambda: [row[4] for row in side.run(LOOK)] == ["idle in transaction", "active"])
            rows = side.run(LOOK)
            assert rows[0] == [pids[0], "postgres", "postgres", "here", "idle in transaction", "SELECT pg_backend_pid()", "t", "t", "t", "client backend"], rows
            assert rows[1][1:6] == ["postgres", "postgres", "there", "active", "SELECT pg_sleep(600)"], rows
            assert side.run("SELECT count(*), count(DISTINCT pid) FROM pg_stat_activity") == [["4", "4"]]
            assert side.run("SELECT count(*) FROM pg_stat_ssl WHERE NOT ssl") == [["4"]]
        pid = watcher.run(LOOK)[1][0]
        assert watcher.run(f"SELECT pg_cancel_backend({pid})") == [["t"]]
        assert there.results()[-1].sqlstate == "57014"
        assert watcher.run("SELECT application_name, pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'") == [["here", "t"]]
        assert watcher.run(f"SELECT pg_cancel_backend(pid), pid FROM (VALUES (NULL::int), (2000000000), ({pid})) v (pid) ORDER BY 2") == [
            ["t", pid], ["f", "2000000000"], [None, None]]
        assert watcher.run(f"SELECT pg_terminate_backend({pid}, 1000)") == [["t"]]
        try:
            there.run("SELECT 1")
            raise AssertionError("the session goes on")
        except (ServerError, ConnectionClosed, ConnectionError) as error:
            assert getattr(error, "sqlstate", "57P01") == "57P01", error
        wait_for(lambda: watcher.run(LOOK)[-1][3] == "here")


def test_a_cancel_request_reaches_the_other_process(make_server, make_redis):
    _, one, two = two_servers(make_server, make_redis)
    with one.connect() as connection, two.connect() as watcher:
        connection.send(pgwire.query("SELECT pg_sleep(600)"))
        wait_for(lambda: watcher.run("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'") == [["1"]])
        for guess in (connection.secret ^ 1, connection.secret):
            with two.socket() as stranger:
                stranger.send(pgwire.special_startup(pgwire.CANCEL_REQUEST, connection.process_id.to_bytes(4, "big") + guess.to_bytes(4, "big")))
        assert connection.results()[-1].sqlstate == "57014"


def test_rights_over_sessions_of_other_processes(make_server, make_redis):
    _, one, two = two_servers(make_server, make_redis)
    with one.connect() as owner, two.connect(application_name="there") as there:
        for statement in ("CREATE ROLE reader LOGIN", "CREATE ROLE signaller LOGIN IN ROLE pg_signal_backend", "CREATE ROLE watcher LOGIN IN ROLE pg_read_all_stats"):
            owner.run(statement)
        pid = there.run("SELECT pg_backend_pid()")[0][0]
        look = "SELECT usename, query FROM pg_stat_activity WHERE application_name = 'there'"
        with one.connect(user="reader") as reader, two.connect(user="reader") as same, one.connect(user="signaller") as signaller, one.connect(user="watcher") as watcher:
            assert reader.run(look) == [["postgres", "<insufficient privilege>"]]
            assert watcher.run(look) == [["postgres", "SELECT pg_backend_pid()"]]
            for who, message in ((reader, "must be a superuser to cancel superuser query"), (signaller, "must be a superuser to cancel superuser query")):
                error = who.run_error(f"SELECT pg_cancel_backend({pid})")
                assert error["C"] == "42501" and error["M"] == message, error
            theirs = same.run("SELECT pg_backend_pid()")[0][0]
            assert reader.run(f"SELECT pg_cancel_backend({theirs})") == [["t"]]
            assert signaller.run(f"SELECT pg_cancel_backend({theirs})") == [["t"]]
            error = watcher.run_error(f"SELECT pg_terminate_backend({theirs})")
            assert error["C"] == "42501" and error["M"] == "must be a member of the role whose process is being terminated or member of pg_signal_backend", error


def test_messages_of_strangers_have_no_effect(make_server, make_redis):
    redis, one, two = two_servers(make_server, make_redis)
    with one.connect() as watcher, two.connect(application_name="there") as there, redis.connect() as listener, redis.connect() as stranger:
        pid = there.run("SELECT pg_backend_pid(), 'secret of a statement'")[0][0]
        listener("PSUBSCRIBE", "redquel:*")
        assert watcher.run("SELECT query FROM pg_stat_activity WHERE application_name = 'there'") == [["SELECT pg_backend_pid(), 'secret of a statement'"]]
        assert watcher.run(f"SELECT pg_cancel_backend({pid})") == [["t"]]
        heard = [[word.encode("utf-8", "surrogateescape") for word in listener.next_message()] for _ in range(4)]
        assert {channel.split(b":")[1] for _, _, channel, _ in heard} == {b"questions", b"answers"}, heard
        assert not any(word in message for _, _, _, message in heard for word in (b"secret", b"sessions", b"cancel"))
        there.send(pgwire.query("SELECT pg_sleep(3)"))
        for _, _, channel, message in heard:  # once more, and with another byte
            stranger("PUBLISH", channel, message)
            stranger("PUBLISH", channel, message[:-1] + bytes([message[-1] ^ 1]))
        for text in (b"", b"x", f"terminate {pid}".encode(), os.urandom(100), b"\0" * 100_000):
            stranger("PUBLISH", "redquel:questions", text)
        assert there.results()[-1].sqlstate is None
        keys = {key for key in stranger.keys("redquel:*") if "process" in key or "exchange" in key or "answers" in key}
        assert all(key == "redquel:exchange_key" or key.startswith("redquel:process_number:") for key in keys), keys


def test_a_process_that_stands_still_is_left_out(make_server, make_redis):
    redis, one, two = two_servers(make_server, make_redis)
    with one.connect() as watcher, two.connect():
        count = "SELECT count(*) FROM pg_stat_activity"
        assert watcher.run(count) == [["2"]]
        os.kill(two.process.pid, signal.SIGSTOP)
        try:
            wait_for(lambda: watcher.run(count) == [["1"]])
        finally:
            os.kill(two.process.pid, signal.SIGCONT)
        wait_for(lambda: watcher.run(count) == [["2"]])
        with redis.connect() as connection:
            connection("FLUSHALL")  # the key of the messages, too
        wait_for(lambda: watcher.run(count) == [["2"]])


def test_a_third_process_takes_the_number_that_is_free(make_server, make_redis):
    redis, one, two = two_servers(make_server, make_redis)
    three = make_server(redis=redis)

    def number(server):
        with server.connect() as connection:
            return int(connection.run("SELECT pg_backend_pid()")[0][0]) >> 21

    assert sorted(map(number, (one, two, three))) == [0, 1, 2]
    with redis.connect() as connection:
        wait_for(lambda: connection("EXISTS", "redquel:process_number:1") == 0)
    assert number(one) == 0


def test_rows_meet_the_conditions_of_now(make_redis, make_server):
    """A condition that another process has dropped, and a partition that it has made, count for the next row."""
    _, first, second = two_servers(make_server, make_redis)
    with first.connect() as definer, second.connect() as writer:
        definer.run("CREATE TABLE bounded (a int CHECK (a < 10) NOT NULL)")
        definer.run("CREATE TABLE parted (a int) PARTITION BY RANGE (a)")
        definer.run("CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10)")
        writer.run("INSERT INTO bounded VALUES (1)")
        writer.run("INSERT INTO parted VALUES (1)")
        definer.run("ALTER TABLE bounded DROP CONSTRAINT bounded_a_check, ALTER a DROP NOT NULL")
        writer.run("INSERT INTO bounded VALUES (11), (NULL)")
        definer.run("CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20)")
        writer.run("INSERT INTO parted VALUES (11)")
        definer.run("CREATE TABLE parted_rest PARTITION OF parted DEFAULT")
        writer.run("INSERT INTO parted VALUES (25), (5)")
        assert definer.run("SELECT tableoid::regclass, a FROM parted ORDER BY a") == [["parted_1", "1"], ["parted_1", "5"], ["parted_2", "11"], ["parted_rest", "25"]]
        assert definer.query("CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (20) TO (30)")[0].sqlstate == "23514"
        writer.run("DELETE FROM parted WHERE a = 25")
        definer.run("CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (20) TO (30)")
        writer.run("INSERT INTO parted VALUES (25)")
        assert writer.run("SELECT tableoid::regclass FROM parted WHERE a = 25") == [["parted_3"]]
        definer.run("ALTER TABLE parted DETACH PARTITION parted_1")
        writer.run("INSERT INTO parted VALUES (6)")
        assert writer.run("SELECT tableoid::regclass, a FROM parted WHERE a < 10") == [["parted_rest", "6"]]
        assert writer.query("INSERT INTO parted_2 VALUES (1)")[0].sqlstate == "23514"
