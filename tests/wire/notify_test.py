"""LISTEN, NOTIFY, UNLISTEN: what is told to whom, and when."""
import struct
import time

from harness import pgwire

CONCURRENT = True


def notifications(connection, seconds=0.0, count=None):
    """(channel, payload) of what has come, after a statement of its own or within so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        connection.run("SELECT 1")
        if (count is not None and len(connection.notifications) >= count) or time.monotonic() >= deadline:
            break
        time.sleep(0.02)
    found, connection.notifications[:] = list(connection.notifications), []
    return found


def test_another_session_gets_the_notification(server):
    with server.connect() as listener, server.connect() as sender:
        listener.run("LISTEN news")
        assert listener.run("SELECT * FROM pg_listening_channels()") == [["news"]]
        sender.run("NOTIFY news, 'hello'")
        sender.run("NOTIFY other, 'unheard'")
        sender.run("SELECT pg_notify('news', 'again')")
        assert notifications(listener, 60, 2) == [("news", "hello"), ("news", "again")]
        assert notifications(sender) == []


def test_an_idle_session_gets_notifications_at_once(server):
    with server.connect() as listener, server.connect() as sender:
        listener.run("LISTEN news")
        sender.run("NOTIFY news, 'idle'")
        kind, payload = listener.read()
        assert kind == b"A", kind
        assert struct.unpack("!i", payload[:4])[0] == sender.process_id and payload[4:] == b"news\0idle\0", payload


def test_own_notifications_come_before_ready_for_query(server, postgres):
    for target in (server, postgres):
        with target.connect() as connection:
            connection.send(pgwire.query("LISTEN own; NOTIFY own, 'a'; NOTIFY own, 'b'; NOTIFY own, 'a'"))
            kinds = []
            while not kinds or kinds[-1] != b"Z":
                kinds.append(connection.read()[0])
            assert kinds == [b"C", b"C", b"C", b"C", b"A", b"A", b"Z"], kinds


def test_a_transaction_sends_notifications_at_commit(server):
    with server.connect() as listener, server.connect() as sender:
        listener.run("LISTEN news")
        sender.run("BEGIN")
        sender.run("NOTIFY news, '1'")
        sender.run("SAVEPOINT s")
        sender.run("NOTIFY news, 'lost'")
        sender.run("ROLLBACK TO s")
        sender.run("NOTIFY news, '2'")
        sender.run("NOTIFY news, '1'")
        time.sleep(0.2)
        assert notifications(listener) == []
        sender.run("COMMIT")
        assert [payload for _, payload in notifications(listener, 60, 2)] == ["1", "2"]
        sender.run("BEGIN")
        sender.run("NOTIFY news, 'never'")
        sender.run("ROLLBACK")
        sender.run("NOTIFY news, 'last'")
        assert [payload for _, payload in notifications(listener, 60, 1)] == ["last"]


def test_listen_is_undone_by_rollback(server):
    with server.connect() as connection:
        connection.run("BEGIN")
        connection.run("LISTEN a")
        connection.run("ROLLBACK")
        assert connection.run("SELECT * FROM pg_listening_channels()") == []
        connection.run("LISTEN a")
        connection.run("LISTEN b")
        connection.run("LISTEN a")
        connection.run("UNLISTEN b")
        assert connection.run("SELECT * FROM pg_listening_channels()") == [["a"]]
        connection.run("UNLISTEN *")
        assert connection.run("SELECT count(*) FROM pg_listening_channels()") == [["0"]]
        connection.run("LISTEN a")
        connection.run("DISCARD ALL")
        connection.run("NOTIFY a")
        assert notifications(connection) == []


def test_a_session_in_a_transaction_gets_no_notification(server):
    with server.connect() as listener, server.connect() as sender:
        listener.run("LISTEN news")
        listener.run("BEGIN")
        sender.run("NOTIFY news, 'waits'")
        time.sleep(0.3)
        assert notifications(listener) == []
        listener.run("COMMIT")
        assert [payload for _, payload in notifications(listener, 60, 1)] == ["waits"]


def test_refused_statements(server, postgres):
    for target in (server, postgres):
        with target.connect() as connection:
            assert connection.run_error("SELECT pg_notify('', 'x')")["C"] == "22023"
            assert connection.run_error("SELECT pg_notify(NULL, 'x')")["M"] == "channel name cannot be empty"
            assert connection.run_error("SELECT pg_notify(repeat('x', 64), 'x')")["M"] == "channel name too long"
            assert connection.run_error("SELECT pg_notify('a', repeat('x', 8000))")["M"] == "payload string too long"
            connection.run("LISTEN a")
            connection.run("SELECT pg_notify('a', repeat('x', 7999))")
            connection.run("SELECT pg_notify('a', NULL)")
            assert [len(payload) for _, payload in notifications(connection)] == [7999, 0]


def test_a_failed_statement_sends_no_notification(server):
    with server.connect() as connection:
        connection.run("LISTEN a")
        connection.run_error("SELECT pg_notify('a', 'x'), 1 / (SELECT 0)")
        assert notifications(connection) == []
        assert connection.extended("SELECT pg_notify($1, $2)", ["a", "by parameters"]).sqlstate is None
        assert [payload for _, payload in notifications(connection)] == ["by parameters"]


def test_many_in_order(server):
    with server.connect() as listener, server.connect() as sender:
        listener.run("LISTEN many")
        sender.run("SELECT pg_notify('many', g || repeat('.', 500)) FROM generate_series(1, 3000) AS g")
        found = [payload.rstrip(".") for _, payload in notifications(listener, 120, 3000)]
        assert found == [str(number) for number in range(1, 3001)], len(found)


def test_two_processes_over_one_redis(make_redis, make_server):
    redis = make_redis()
    one, other = make_server(redis=redis), make_server(redis=redis)
    with one.connect() as listener, other.connect() as sender:
        listener.run("LISTEN news")
        sender.run("NOTIFY news, 'across'")
        assert [payload for _, payload in notifications(listener, 60, 1)] == ["across"]


def test_notifications_committed_before_unlisten_arrive(server):
    with server.connect() as listener, server.connect() as sender:
        for statement in ("UNLISTEN news", "UNLISTEN *", "DISCARD ALL"):
            for number in range(20):
                listener.run("LISTEN news")
                sender.run(f"NOTIFY news, '{number}'")
                listener.run(statement)
                assert listener.notifications == [("news", str(number))], (statement, number, listener.notifications)
                listener.notifications.clear()


def test_a_session_of_another_database_gets_no_notification(server):
    with server.connect() as sender:
        sender.run("CREATE DATABASE quiet")
        with server.connect("quiet") as other, server.connect() as listener:
            other.run("LISTEN news")
            listener.run("LISTEN news")
            sender.run("NOTIFY news, 'here'")
            assert notifications(listener, 60, 1) == [("news", "here")]
            assert notifications(other) == []
        sender.run("DROP DATABASE quiet")


def netstrings(*texts):
    return b"".join(b"%d:%b" % (len(text), text) for text in texts)


def test_forged_messages_have_no_effect_on_commits(server, redis):
    """A message decides nothing: what NOTIFY cannot have sent is dropped, the rest reaches the listeners of its database."""
    with server.connect() as listener, server.connect() as sender, redis.connect() as publisher:
        listener.run("LISTEN news")
        head = (b"nobody", b"7")
        for message in (b"", b"junk", b"99999999999999999999:x", b"5:ab", netstrings(*head, b"news"), netstrings(*head, b"news", b"a\0b"),
                        netstrings(*head, b"news", b"\xff\xfe"), netstrings(*head, b"news", b"x" * 8000), netstrings(*head, b"", b"x")):
            assert publisher("PUBLISH", "redquel:notify:0", message) >= 1, message  # every thread of redquel
        publisher("PUBLISH", "redquel:notify:0", netstrings(*head, b"news", b"forged"))
        sender.run("NOTIFY news, 'real'")
        assert notifications(listener, 60, 2) == [("news", "forged"), ("news", "real")]
