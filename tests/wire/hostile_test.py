"""Input that no friendly client sends. Whatever happens to that session, the server lives and serves others."""
import struct
import threading
import time

from harness import pgwire
from harness.crew import all_at_once, crew
from harness.pgwire import ConnectionClosed, FLUSH, SYNC, bind, describe, execute, message, parse, query
from harness.transcript import same

CONCURRENT = True


def assert_alive(server):
    assert server.alive()
    with server.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def read_to_end(connection):
    """Everything the server still says before it closes, or None if it keeps the session."""
    messages = []
    try:
        while True:
            kind, payload = connection.read()
            messages.append((kind, payload))
            if kind == b"Z":
                return None
    except ConnectionClosed:
        return messages


def test_message_lengths_that_cannot_be(server):
    for kind in (b"Q", b"P", b"B", b"D", b"E", b"C", b"H", b"S", b"F", b"X"):
        for length in (0, 3, -1, -2**31, 2**31 - 1):
            with server.connect() as connection:
                connection.send(kind + struct.pack("!i", length) + b"SELECT 1\0" * 8)
                if length == 2**31 - 1:
                    continue  # perhaps the server waits for the rest: it must not have reserved memory for it
                messages = read_to_end(connection)
                assert messages is not None and all(k in (b"E", b"N") for k, _ in messages), (kind, length, messages)
    assert_alive(server)


def test_unknown_message_types(server, postgres):
    for kind in (b"!", b"\0", b"z", b"\xff", b"p"):
        for who in (postgres, server):
            with who.connect() as connection:
                connection.send(message(kind, b"what"))
                messages = read_to_end(connection)
                if kind != b"p":
                    assert messages and pgwire.decode_fields(messages[-1][1])["C"] == "08P01", (kind, messages)
                elif messages is None:
                    assert connection.run("SELECT 1") == [["1"]]
    assert_alive(server)


def test_messages_cut_off_at_each_byte(server):
    data = parse("SELECT $1::int", "s") + bind("p", "s", ["1"]) + describe(b"P", "p") + execute("p") + FLUSH + query("SELECT 1")
    for length in range(len(data)):
        connection = server.connect()
        connection.send(data[:length])
        if length % 2:
            connection.abandon()
        else:
            connection.socket.close()
    assert_alive(server)


def test_text_that_is_not_utf8(server, postgres):
    same(server, postgres, message(b"Q", b"SELECT 'caf\xe9'\0"), message(b"Q", b"SELECT '\xf0\x28\x8c\x28'\0"), message(b"Q", b"SELECT '\xc0\x80'\0"),
         message(b"Q", b"SELECT '\xed\xa0\x80'\0"), parse(b"SELECT '\xff'") + SYNC, query("SELECT 1"))


def test_query_without_its_zero_byte(server, postgres):
    same(server, postgres, message(b"Q", b"SELECT 1"), query("SELECT 2"))


def test_query_with_a_zero_byte_inside(server, postgres):
    same(server, postgres, message(b"Q", b"SELECT 1\0SELECT 2\0"), query("SELECT 3"))


def test_ten_thousand_statements_in_one_string(server):
    with server.connect(timeout=240) as connection:
        results = connection.query("SELECT 1;" * 10_000)
        assert len(results) == 10_000 and all(result.tag == "SELECT 1" for result in results)
        assert connection.run("SELECT 2") == [["2"]]


def test_deep_nesting(server):
    depth = 50_000
    for sql in ("SELECT " + "(" * depth + "1" + ")" * depth, "SELECT " + "- " * depth + "1", "SELECT " + "NOT " * depth + "true",
                "SELECT " + "1 + " * depth * 2 + "1", "SELECT 1 WHERE " + "true AND " * depth + "true",
                "SELECT " + "(SELECT " * depth + "1" + ")" * depth, "SELECT 1 WHERE " + "1 = 1 OR " * depth + "false",
                "SELECT " + "CASE WHEN true THEN " * depth + "1" + " END" * depth, "SELECT " + "abs(" * depth + "1" + ")" * depth,
                "SELECT 1 FROM " + "(" * depth + "x" + ")" * depth, "SELECT " + "'x' || " * depth + "'x'",
                "SELECT 1" + " UNION SELECT 1" * depth, "SELECT 1" + "::int" * depth, "SELECT " + "ARRAY[" * depth + "1" + "]" * depth):
        with server.connect(timeout=240) as connection:
            result = connection.query(sql)[-1]
            assert result.tag or result.sqlstate in ("54001", "54000", "0A000", "42601"), (sql[:40], result.error)
            assert connection.run("SELECT 1") == [["1"]], sql[:40]


def test_long_lists(server):
    with server.connect(timeout=240) as connection:
        many = ", ".join(map(str, range(20_000)))
        result = connection.query(f"SELECT 1 WHERE 19999 IN ({many})")[-1]
        assert result.tag == "SELECT 1" or result.sqlstate in ("54001", "54000"), result.error
        result = connection.query(f"SELECT {', '.join(['1'] * 1700)}")[-1]
        assert result.sqlstate == "54011" or result.tag, result.error
        result = connection.query(f"VALUES {', '.join('(1)' for _ in range(20_000))}")[-1]
        assert result.tag == "SELECT 20000", result.error


def test_too_many_parameters(server):
    with server.connect() as connection:
        connection.send(parse("SELECT " + ", ".join(f"${n}::int" for n in range(1, 1001)), "wide") + bind("", "wide", ["7"] * 1000) + execute() + SYNC)
        result = connection.results()[-1]
        assert result.rows == [[b"7"] * 1000], result.error
        connection.send(message(b"B", b"\0wide\0" + struct.pack("!h", 0) + struct.pack("!h", -1)) + SYNC)
        assert connection.results()[-1].error
        connection.send(message(b"P", b"\0SELECT 1\0" + struct.pack("!h", -1)) + SYNC)
        assert connection.results()[-1].error
        connection.send(message(b"B", b"\0wide\0" + struct.pack("!hhi", 0, 1, 2**31 - 1)) + SYNC)
        assert connection.results()[-1].error
        assert connection.run("SELECT 1") == [["1"]]


def test_a_statement_of_many_megabytes(server):
    with server.connect(timeout=240) as connection:
        word = "x" * (4 << 20)
        assert connection.run(f"SELECT length('{word}')") == [[str(4 << 20)]]
        result = connection.query("SELECT '" + "y" * (40 << 20) + "'")
        assert result[-1].tag or result[-1].error
    assert_alive(server)


def test_a_client_that_never_reads(server):
    connection = server.connect()
    connection.send(query("SELECT g, repeat('x', 1000) FROM generate_series(1, 100000) AS s(g)"))
    for _ in range(20):
        assert_alive(server)
    connection.abandon()
    assert_alive(server)


def test_a_client_that_sends_and_never_reads(server):
    """Answers pile up: the server must stop reading instead of growing, and others are served."""
    connection = server.connect(timeout=2)
    step = parse("SELECT repeat('y', 10000)") + bind() + execute() + SYNC
    try:
        for _ in range(3_000):
            connection.socket.sendall(step)
    except (TimeoutError, OSError):
        pass
    assert resident_megabytes(server) < 1_500
    assert_alive(server)
    connection.abandon()


def test_a_slow_reader_gets_everything(server):
    with server.connect() as connection:
        connection.send(query("SELECT g FROM generate_series(1, 20000) AS s(g)"))
        time.sleep(0.5)
        result = connection.results()[-1]
        assert [row[0] for row in result.rows] == [str(n).encode() for n in range(1, 20_001)]


def test_vanishing_at_each_state(server):
    with server.connect() as connection:
        connection.run("DROP TABLE IF EXISTS x_vanish; CREATE TABLE x_vanish (id integer PRIMARY KEY, a integer)")
        connection.run("INSERT INTO x_vanish SELECT g, g % 7 FROM generate_series(1, 2000) AS s(g)")
    states = {
        "idle": b"",
        "simple query": query("SELECT * FROM x_vanish"),
        "long query": query("SELECT count(*) FROM generate_series(1, 3000000) AS s(g)"),
        "big answer": query("SELECT repeat('z', 500) FROM generate_series(1, 50000) AS s(g)"),
        "write": query("UPDATE x_vanish SET a = a + 1"),
        "parsed": parse("SELECT 1", "s") + FLUSH,
        "bound": parse("SELECT * FROM x_vanish") + bind() + FLUSH,
        "suspended": parse("SELECT * FROM x_vanish") + bind() + execute("", 10) + FLUSH,
        "failed, no sync": parse("SELECT 1/0") + bind() + execute(),
        "half a message": query("SELECT * FROM x_vanish")[:10],
    }
    for name, data in states.items():
        for wait in (0, 0.02):
            connection = server.connect()
            connection.send(data)
            time.sleep(wait)
            connection.abandon()
            assert server.alive(), name
    assert_alive(server)
    with server.connect() as connection:
        assert connection.run("SELECT count(*) FROM x_vanish") == [["2000"]]


def test_random_bytes(server, random):
    for _ in range(200):
        connection = server.connect()
        data = bytes(random.randrange(256) for _ in range(random.randrange(1, 200)))
        try:
            connection.send(data)
        except ConnectionClosed:
            pass
        connection.abandon()
    assert_alive(server)


def test_random_changes_of_good_messages(server, random):
    good = parse("SELECT $1::int, $2::text FROM generate_series(1, 3)", "s") + bind("p", "s", ["1", "b"]) + describe(b"P", "p") + execute("p", 2) + SYNC
    for _ in range(400):
        data = bytearray(good)
        for _ in range(random.randrange(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        connection = server.connect()
        try:
            connection.send(bytes(data) + SYNC)
        except ConnectionClosed:
            pass
        connection.abandon()
    assert_alive(server)


def test_hostile_sessions_beside_good_ones(server):
    """The good ones get right answers while others misbehave."""
    stop = threading.Event()

    def misbehave(_):
        while not stop.is_set():
            for data in (b"Q\0\0\0\1", message(b"!", b""), query("SELECT * FROM generate_series(1, 10000)"), parse("SELECT 1")[:7]):
                try:
                    connection = server.connect()
                    connection.send(data)
                    connection.abandon()
                except (OSError, ConnectionClosed):
                    pass

    def behave(number):
        with server.connect() as connection:
            for turn in range(200):
                assert connection.run("SELECT $1::int + $2::int", str(number), str(turn)) == [[str(number + turn)]]

    with crew(misbehave, 2):
        try:
            all_at_once(behave, 4)
        finally:
            stop.set()


def resident_megabytes(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20
