"""Transcripts of COPY, each compared with PostgreSQL's message by message."""
import struct

from harness.pgwire import COPY_DONE, FLUSH, SYNC, bind, copy_data, copy_fail, describe, execute, parse, query
from harness.transcript import same

CONCURRENT = True
SLOW = True

SIGNATURE = b"PGCOPY\n\xff\r\n\0"


def table(name, columns="a int, b text"):
    return f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns})"


def header(flags=0, extension=b""):
    return SIGNATURE + struct.pack("!ii", flags, len(extension)) + extension


def row(*values):
    return struct.pack("!h", len(values)) + b"".join(
        struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value for value in values)


TRAILER = struct.pack("!h", -1)


def copied(server, postgres, name, sql, *pieces, end=COPY_DONE, columns="a int, b text"):
    """COPY with these pieces of data, then what the table holds; the session goes on after errors."""
    same(server, postgres, query(sql) + b"".join(map(copy_data, pieces)) + end, query(f"SELECT * FROM {name} ORDER BY 1, 2"),
         setup=table(name, columns), ready=1)


def test_lines_cut_anywhere(server, postgres):
    data = b"1\tone\n2\ttwo\\\n2\n3\t\\N\n4\t\\\\\n"
    for size in (1, 2, 3, 7, len(data)):
        pieces = [data[at:at + size] for at in range(0, len(data), size)]
        copied(server, postgres, "c_cut", "COPY c_cut FROM STDIN", *pieces)


def test_ends_of_lines(server, postgres):
    for data in (b"1\tx\r\n2\ty\r\n", b"1\tx\r2\ty\r", b"1\tx\r\n2\ty", b"1\tx\r\n2\ty\n", b"1\tx\n2\ty\r\n", b"1\tx\r2\ty\n",
                 b"1\tx\ry\n2\tz\n", b"1\tx\n2\ty\r3\n", b"1\tx\\\r\n2\ty\n", b"", b"\r\n", b"1\tx\\", b"1\tx\n\\.\r\n",
                 b"1\tx\r\n\\.\n", b"1\tx\n\\.", b"1\tx\n\\.x\n", b"1\tx\r\n\\.\r\n2\ty\r\n", b"\\.\n1\tx\n", b"1\tx\n\\.\n\xff\xff"):
        for pieces in ([data], [bytes([byte]) for byte in data]):
            copied(server, postgres, "c_ends", "COPY c_ends FROM STDIN", *pieces)


def test_csv_ends_of_lines(server, postgres):
    for data in (b"1,x\r\n2,\"a\r\nb\"\r\n", b"1,x\r2,\"a\rb\"\r", b"1,\"x\ny\"\n2,z\r\n", b"1,x\n2,y\rz\n", b"1,\"x\n", b"1,x\n\\.\n2,y\n",
                 b"1,x\n\\.2,y\n", b"1,\"\\.\n\"\n", b"1,\"a\"\"b\"\"\"\n", b"1,\"a\\\"b\"\n", b"1,a\"b\nc\"d\n", b"1,x\r\n\\.\r\n", b"1,x\r\n\\.\n"):
        for pieces in ([data], [bytes([byte]) for byte in data]):
            copied(server, postgres, "c_csv", "COPY c_csv FROM STDIN (FORMAT csv)", *pieces)


def test_csv_with_another_escape(server, postgres):
    for data in (b"1,\"a\\\"b\"\n", b"1,\"a\\\\\"\n", b"1,\"a\\\nb\"\n2,x\n", b"1,a\\b\n", b"1,\"a\\\n"):
        copied(server, postgres, "c_escape", "COPY c_escape FROM STDIN (FORMAT csv, ESCAPE '\\')", data)


def test_copy_fail(server, postgres):
    copied(server, postgres, "c_fail", "COPY c_fail FROM STDIN", b"1\tx\n", end=copy_fail("no more"))
    copied(server, postgres, "c_fail", "COPY c_fail FROM STDIN", end=copy_fail(""))


def test_error_in_the_middle_reads_to_the_end(server, postgres):
    copied(server, postgres, "c_error", "COPY c_error FROM STDIN", b"1\tx\n", b"oops\ty\n", *[b"2\tz\n"] * 100)
    copied(server, postgres, "c_error", "COPY c_error FROM STDIN", b"1\tx\n", b"oops\ty\n", end=copy_fail("too late"))


def test_invalid_bytes(server, postgres):
    copied(server, postgres, "c_bytes", "COPY c_bytes FROM STDIN", b"1\tx\n2\t\xff\n")
    copied(server, postgres, "c_bytes", "COPY c_bytes FROM STDIN", b"1\tx\n2\ta\0b\n")
    copied(server, postgres, "c_bytes", "COPY c_bytes FROM STDIN (ENCODING 'latin1')", b"1\t\xe4\n2\tx\n")
    copied(server, postgres, "c_bytes", "COPY c_bytes FROM STDIN (ENCODING 'sql_ascii')", b"1\tx\n")
    same(server, postgres, query("COPY (SELECT 'ä', 'x') TO STDOUT (ENCODING 'latin1')"),
         query("COPY (SELECT 'ä', '€') TO STDOUT (ENCODING 'latin1')"))


def test_binary(server, postgres):
    sql = "COPY c_binary FROM STDIN (FORMAT binary)"
    one, two = struct.pack("!i", 1), struct.pack("!i", 2)
    good = header() + row(one, b"x") + row(two, None) + row(None, b"") + TRAILER
    for data in (good, good[:-2], header(0, b"more") + row(one, b"x") + TRAILER, header() + TRAILER, header(),
                 header() + row(one) + TRAILER, header() + row(one, b"x", b"y"), header() + row(b"\1", b"x"),
                 header() + row(one + b"\0", b"x"), header() + row(one, b"\xff"), good + b"x", b"", b"PGCOPX", SIGNATURE,
                 SIGNATURE + b"\0\0\0\0", header(1 << 16), header(1 << 17), header() + b"\0\2\0\0", header() + b"\0\2\xff\xff\xff\xf0",
                 header() + b"\0\2\0\0\0\4\0\0"):
        for pieces in ([data], [bytes([byte]) for byte in data]):
            copied(server, postgres, "c_binary", sql, *filter(None, pieces))


def test_binary_out(server, postgres):
    same(server, postgres, query("COPY (SELECT 1, 'x', NULL::text, 1.5::numeric, true, '2024-02-29'::date) TO STDOUT (FORMAT binary)"),
         query("COPY (SELECT 1 WHERE false) TO STDOUT (FORMAT binary)"),
         query("COPY (SELECT g, 'row ' || g FROM generate_series(1, 3) g) TO STDOUT (FORMAT binary)"))


def test_copy_out(server, postgres):
    same(server, postgres, query("COPY c_out TO STDOUT"), query("COPY c_out (b) TO STDOUT (FORMAT csv, HEADER)"),
         query("COPY c_out TO STDOUT (HEADER)"), query("COPY (SELECT 1 / (1 - a) FROM c_out) TO STDOUT"),
         setup=table("c_out") + "; INSERT INTO c_out VALUES (1, 'x'), (2, NULL)")


def test_one_of_several_statements(server, postgres):
    same(server, postgres, query("SELECT 1; COPY c_several FROM STDIN; SELECT count(*) FROM c_several; COPY c_several TO STDOUT")
         + copy_data(b"1\tx\n") + COPY_DONE, setup=table("c_several"), ready=1)
    same(server, postgres, query("COPY c_several FROM STDIN; COPY c_several FROM STDIN; COPY c_several TO STDOUT")
         + copy_data(b"1\tx\n") + COPY_DONE + copy_data(b"2\ty\n") + COPY_DONE, setup=table("c_several"), ready=1)


def test_extended_protocol(server, postgres):
    start = parse("COPY c_extended FROM STDIN") + bind() + describe(b"P") + execute()
    same(server, postgres, start + copy_data(b"1\tx\n") + FLUSH + SYNC + copy_data(b"2\ty\n") + COPY_DONE + SYNC,
         setup=table("c_extended"), ready=1)
    same(server, postgres, start + copy_data(b"oops\n") + COPY_DONE + SYNC, query("SELECT count(*) FROM c_extended"),
         setup=table("c_extended"), ready=1)
    same(server, postgres, parse("COPY c_extended TO STDOUT") + describe(b"S") + bind() + execute("", 1) + SYNC,
         setup=table("c_extended") + "; INSERT INTO c_extended VALUES (1, 'x'), (2, 'y')")


def test_other_messages_between_the_data(server, postgres):
    same(server, postgres, query("COPY c_other FROM STDIN") + copy_data(b"1\tx\n") + query("SELECT 1"), setup=table("c_other"), ready=1)


def test_stray_copy_messages(server, postgres):
    same(server, postgres, copy_data(b"x") + COPY_DONE + copy_fail("x") + query("SELECT 1"))


def test_cancel_while_waiting_for_data(server):
    """redquel does not wait for data that may never come."""
    with server.connect() as session:
        session.run(table("c_cancel"))
        session.send(query("COPY c_cancel FROM STDIN") + copy_data(b"1\tx\n"))
        session.read_until(b"G")
        session.cancel()
        messages = session.read_until(b"Z")
        assert messages[0][0] == b"E" and b"57014" in messages[0][1], messages
        session.send(copy_data(b"2\ty\n") + COPY_DONE)
        assert session.run("SELECT count(*) FROM c_cancel") == [["0"]]
