"""How a connection begins and ends."""
import struct

from harness.crew import all_at_once
from harness.pgwire import (GSSENC_REQUEST, SSL_REQUEST, TERMINATE, Connection, ConnectionClosed, special_startup, startup)
from harness.transcript import readable

CONCURRENT = True


def greeting(who, data):
    """What the server says to first bytes, up to ReadyForQuery or the end; keys and settings left out."""
    connection = who.socket()
    lines = []
    try:
        connection.send(data)
        while not lines or lines[-1][0] != "Z":
            kind, payload = connection.read()
            lines.append(kind.decode() if kind in b"KS" else readable(kind, payload))
    except ConnectionClosed:
        lines.append("(closed)")
    connection.socket.close()
    return [line for line in lines if line != "S"]


def same_greeting(server, postgres, data):
    expected, got = greeting(postgres, data), greeting(server, data)
    assert got == expected, f"PostgreSQL: {expected}\nredquel: {got}"


def test_encryption_is_declined_and_the_session_goes_on(server):
    connection = server.socket()
    for code in (SSL_REQUEST, GSSENC_REQUEST):
        connection.send(special_startup(code))
        assert connection.read_bytes(1) == b"N"
    connection.start(dict(user="postgres", database="postgres"))
    assert connection.run("SELECT 1") == [["1"]]


def test_plain_start(server, postgres):
    same_greeting(server, postgres, startup(dict(user="postgres", database="postgres")))


def test_unknown_versions(server, postgres):
    for version in (0x00040000, 0x00030002, 0x000300ff):
        same_greeting(server, postgres, startup(dict(user="postgres", database="postgres"), version))


def test_no_user(server, postgres):
    same_greeting(server, postgres, startup(dict(database="postgres")))


def test_unknown_database(server, postgres):
    same_greeting(server, postgres, startup(dict(user="postgres", database="no_such_database")))


def test_unknown_setting(server, postgres):
    same_greeting(server, postgres, startup(dict(user="postgres", database="postgres", no_such_setting="1")))


def test_bad_value_of_a_setting(server, postgres):
    for name, value in (("DateStyle", "sideways"), ("client_encoding", "KLINGON"), ("TimeZone", "Mars/Olympus")):
        same_greeting(server, postgres, startup({"user": "postgres", "database": "postgres", name: value}))


def test_options_in_the_startup_packet(server, postgres):
    for who in (server, postgres):
        with Connection(who.address, options="-c DateStyle=German -c application_name=a\\ b") as connection:
            assert connection.run("SHOW DateStyle") == [["German, DMY"]]
            assert connection.run("SHOW application_name") == [["a b"]]


def test_reported_settings(server, postgres):
    with server.connect() as subject, postgres.connect() as oracle:
        names = set(oracle.parameters)
        assert names <= set(subject.parameters), f"not reported: {names - set(subject.parameters)}"
        for name in names - {"server_version"}:
            assert subject.parameters[name] == oracle.parameters[name], name
        assert subject.parameters["server_version"].startswith("15.")


def test_changed_settings_are_reported(server, postgres):
    for sql, name in (("SET application_name = 'new name'", "application_name"), ("SET TimeZone = 'Europe/Berlin'", "TimeZone"),
                      ("SET DateStyle = 'SQL, DMY'", "DateStyle"), ("SET standard_conforming_strings = on", "standard_conforming_strings")):
        with server.connect() as subject, postgres.connect() as oracle:
            subject.run(sql)
            oracle.run(sql)
            assert subject.parameters[name] == oracle.parameters[name], name


def test_impossible_lengths_end_the_connection(server):
    for length in (0, 3, 4, 7, 10_005, 2**31 - 1, -1):
        connection = server.socket()
        connection.send(struct.pack("!i", length) + b"\0\3\0\0user\0postgres\0\0")
        try:
            kind, _ = connection.read()
            assert kind == b"E", (length, kind)
            assert connection.at_end(), length
        except ConnectionClosed:
            pass
    assert_alive(server)


def test_startup_in_single_bytes(server):
    connection = server.socket()
    for byte in startup(dict(user="postgres", database="postgres")):
        connection.send(bytes([byte]))
    while connection.read()[0] != b"Z":
        pass


def test_vanishing_at_each_byte_of_the_startup(server):
    packet = startup(dict(user="postgres", database="postgres"))
    for length in range(0, len(packet) + 1, 3):
        connection = server.socket()
        connection.send(packet[:length])
        connection.abandon()
    assert_alive(server)


def test_terminate(server):
    with server.connect() as connection:
        connection.send(TERMINATE)
        assert connection.at_end()


def test_many_sessions_at_once(server):
    connections = [server.connect() for _ in range(100)]
    assert len({(c.process_id, c.secret) for c in connections}) == 100
    for number, connection in enumerate(connections):
        assert connection.run(f"SELECT {number}") == [[str(number)]]
    for connection in connections:
        connection.close()


def test_threads_connect_and_leave(server):
    def visit(number):
        for turn in range(20):
            with server.connect() as connection:
                assert connection.run(f"SELECT {number} + {turn}") == [[str(number + turn)]]

    all_at_once(visit, 16)


def assert_alive(server):
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]
