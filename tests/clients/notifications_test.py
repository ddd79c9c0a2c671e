"""LISTEN and NOTIFY through drivers: psycopg2 waits on its socket, psql shows what has come."""
import select
import time

import psycopg2

from harness.programs import connection_options, run


def connect(server):
    connection = psycopg2.connect(host=server.host, port=server.port, user="postgres", dbname="postgres")
    connection.autocommit = True
    return connection


def wait_for(connection, count, seconds=90):
    """The next so many notifications, as (channel, payload, process)."""
    end = time.monotonic() + seconds
    while len(connection.notifies) < count and time.monotonic() < end:
        select.select([connection], [], [], 0.5)
        connection.poll()
    found = [(notice.channel, notice.payload, notice.pid) for notice in connection.notifies]
    connection.notifies.clear()
    return found


def test_a_listener_gets_the_notification(server):
    listener, sender = connect(server), connect(server)
    pid = sender.get_backend_pid()
    listener.cursor().execute('LISTEN jobs; LISTEN "Other"')
    with sender.cursor() as cursor:
        cursor.execute("NOTIFY jobs, 'first'")
        cursor.execute("SELECT pg_notify('Other', %s)", ("zweite ☃",))
        cursor.execute("NOTIFY nobody, 'unheard'; NOTIFY jobs")
    assert wait_for(listener, 3) == [("jobs", "first", pid), ("Other", "zweite ☃", pid), ("jobs", "", pid)]
    listener.cursor().execute("UNLISTEN jobs")
    sender.cursor().execute("NOTIFY jobs, 'too late'; NOTIFY \"Other\", 'in time'")
    assert wait_for(listener, 1) == [("Other", "in time", pid)]
    listener.cursor().execute("UNLISTEN *")
    with listener.cursor() as cursor:
        cursor.execute("SELECT pg_listening_channels()")
        assert cursor.fetchall() == []


def test_notifications_come_with_the_commit(server):
    listener, sender = connect(server), connect(server)
    listener.cursor().execute("LISTEN changes")
    sender.autocommit = False
    with sender.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS notified (id integer PRIMARY KEY)")
        sender.commit()
        cursor.execute("INSERT INTO notified VALUES (1)")
        cursor.execute("NOTIFY changes, 'rolled back'")
        sender.rollback()
        cursor.execute("INSERT INTO notified VALUES (2)")
        for payload in ("a", "b", "a"):  # equal ones of a transaction come once
            cursor.execute("SELECT pg_notify('changes', %s)", (payload,))
        assert wait_for(listener, 1, seconds=1) == []
        sender.commit()
        assert [payload for _, payload, _ in wait_for(listener, 2)] == ["a", "b"]
        with listener.cursor() as reader:  # what is told is there
            reader.execute("SELECT id FROM notified")
            assert reader.fetchall() == [(2,)]
        cursor.execute("DROP TABLE notified")
        sender.commit()


def test_the_sender_hears_itself(server):
    connection = connect(server)
    connection.cursor().execute("LISTEN own; NOTIFY own, 'echo'")
    assert wait_for(connection, 1) == [("own", "echo", connection.get_backend_pid())]


def test_psql_shows_notifications(server):
    output = run(["psql", "-X", *connection_options(server)], input="LISTEN here;\nNOTIFY here, 'hello';\n")
    assert output.startswith('LISTEN\nNOTIFY\nAsynchronous notification "here" with payload "hello" received from server process with PID ')
