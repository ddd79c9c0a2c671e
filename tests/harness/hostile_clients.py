"""Clients that make redquel hold memory or compute for long, beside each other, for a while."""
import struct
import threading
import time

from harness.pgwire import SYNC, ConnectionClosed, ServerError, bind, decode_fields, describe, execute, message, parse, query

# Answers that a bound of the server gives: memory, program limits, too many connections, cancelled statements.
REFUSALS = ("53200", "53400", "54000", "54001", "53300", "57014", "22003", "2201B", "54011", "25P02", "40001")
MEGABYTE = 1 << 20

SETUP = """
CREATE TABLE heavy (id int PRIMARY KEY, number int, t text);
INSERT INTO heavy SELECT g, g % 1000, repeat('row ', 25) || g FROM generate_series(1, 50000) g;
CREATE TABLE written (id int, t text);
"""

# Statements by what they make grow.
STATEMENTS = {
    "aggregate of strings": "SELECT length(string_agg(repeat('x', 100000), '')) FROM generate_series(1, 100000)",
    "aggregate of arrays": "SELECT cardinality(array_agg(repeat('z', 5000))) FROM generate_series(1, 2000000)",
    "aggregate of json": "SELECT length(jsonb_agg(jsonb_build_object('n', g, 't', repeat('j', 200)))::text) FROM generate_series(1, 3000000) g",
    "sort": "SELECT count(*) FROM (SELECT g, repeat('y', 1000) || g AS t FROM generate_series(1, 1000000) g ORDER BY t DESC OFFSET 1) s",
    "groups": "SELECT count(*) FROM (SELECT repeat('g', 500) || g AS t, count(*) FROM generate_series(1, 2000000) g GROUP BY 1) s",
    "hash join": "SELECT count(*) FROM generate_series(1, 2000000) a JOIN generate_series(1, 2000000) b ON a = b",
    "distinct": "SELECT count(DISTINCT repeat('d', 500) || g) FROM generate_series(1, 1000000) g",
    "window": "SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY repeat('w', 300) || g) AS n FROM generate_series(1, 500000) g) s",
    "recursive query": "WITH RECURSIVE r(n, t) AS (SELECT 1, repeat('r', 1000) UNION SELECT n + 1, repeat('r', 1000) || n FROM r WHERE n < 3000000) SELECT count(*) FROM r",
    "kept query": "WITH kept AS MATERIALIZED (SELECT repeat('k', 10000) || g AS t FROM generate_series(1, 200000) g) SELECT count(*) FROM kept a, kept b WHERE a.t = b.t",
    "long strings": "SELECT length(repeat('a', 400000000) || repeat('b', 400000000))",
    "many long strings": "SELECT sum(length(repeat('m', 50000000) || g)) FROM generate_series(1, 200) g",
    "regular expression": "SELECT repeat('a', 100000) || 'b' ~ '(a+)+c', regexp_replace(repeat('ab', 20000000), '(a)(b)', '\\2\\1', 'g') IS NULL",
    "regular expressions of rows": "SELECT count(*) FROM generate_series(1, 300000) g WHERE repeat(g::text, 50) ~ '^(1|12|123)*(4.*5|6.*7)+$'",
    "pattern": "SELECT repeat('ab', 5000000) LIKE '%a%a%a%a%a%a%a%a%a%a%b%c', repeat('ab', 100000) SIMILAR TO '(a|b|ab)*c'",
    "numbers": "SELECT length(factorial(20000)::text), length((3::numeric ^ 30000)::text), length(exp(5000::numeric)::text)",
    "json": "SELECT length((SELECT jsonb_object_agg('key' || g, repeat('v', 100)) FROM generate_series(1, 500000) g)::text)",
    "json text": "SELECT jsonb_path_query_array(('[' || repeat('{\"a\": [1, 2, 3]},', 500000) || '0]')::jsonb, '$[*].a[*] ? (@ > 1)') IS NULL",
    "product": "SELECT count(*) FROM heavy a, heavy b WHERE a.number * b.number % 7 = 3",
    "rows of Redis": "SELECT id, t || t || t, number FROM heavy ORDER BY t DESC, id",
    "large result": "SELECT repeat('r', 1000) || g FROM generate_series(1, 300000) g",
    "large rows": "SELECT repeat('r', 60000000) FROM generate_series(1, 20) g",
    "split": "SELECT cardinality(string_to_array(repeat('a,', 30000000), ',')), count(*) FROM regexp_split_to_table(repeat('b,', 3000000), ',')",
    "unnest": "SELECT count(*) FROM unnest(array_fill('text'::text, ARRAY[20000000])) u",
    "written rows": "BEGIN; INSERT INTO written SELECT g, repeat('w', 500) FROM generate_series(1, 1500) g; UPDATE written SET t = t || t; ROLLBACK",
    "many written rows": "BEGIN; INSERT INTO written SELECT g, repeat('w', 300) FROM generate_series(1, 60000) g; ROLLBACK",
    "grouping sets": "SELECT count(*) FROM (SELECT g % 1000, g % 999, g % 998, g % 997, count(*) FROM generate_series(1, 300000) g GROUP BY CUBE (1, 2, 3, 4)) s",
}


def read_away(connection):
    """Reads up to ReadyForQuery and keeps nothing. Returns the SQLSTATE of the first error."""
    sqlstate = None
    while True:
        kind, payload = connection.read()
        if kind == b"E" and sqlstate is None:
            sqlstate = decode_fields(payload)["C"]
        if kind == b"Z":
            return sqlstate


def held_cursors(connection, until):
    for number in range(200):
        if time.monotonic() > until:
            return
        connection.run(f"BEGIN; DECLARE held{number} CURSOR WITH HOLD FOR SELECT repeat('h', 10000) || g FROM generate_series(1, 20000) g; COMMIT")


def prepared_statements(connection, until):
    number = 0
    while time.monotonic() < until:
        connection.send(parse(f"SELECT '{'p' * MEGABYTE}', {number}", f"s{number}") + SYNC)
        result = connection.results()[-1]
        if result.error:
            raise ServerError(result.error)
        number += 1


def portals(connection, until):
    connection.send(parse("SELECT length($1::text)", "s") + SYNC)
    connection.results()
    connection.run("BEGIN")
    value, number = "x" * (20 * MEGABYTE), 0
    while time.monotonic() < until:
        connection.send(bind(f"portal{number}", "s", [value]) + SYNC)
        result = connection.results()[-1]
        if result.error:
            raise ServerError(result.error)
        number += 1


def half_messages(connection, until):
    connection.send(b"Q" + struct.pack("!i", 60 * MEGABYTE) + b"SELECT '" + b"x" * (50 * MEGABYTE))
    time.sleep(max(0.0, min(3.0, until - time.monotonic())))


def unread_answers(connection, until):
    connection.send(parse("SELECT " + ", ".join(f"1 AS column_{n}" for n in range(1200)), "wide") + SYNC)
    connection.results()
    connection.socket.settimeout(2)
    connection.socket.sendall(describe(b"S", "wide") * 20_000)


def unread_rows(connection, until):
    connection.send(query("SELECT repeat('u', 100000) FROM generate_series(1, 100000)"))
    time.sleep(max(0.0, min(5.0, until - time.monotonic())))


def long_texts(connection, until):
    numbers = ",".join(str(10_000_000 + number) for number in range(300_000))
    for sql in (f"SELECT 10000007 IN ({numbers})", f"SELECT ARRAY[{numbers}]", "SELECT " + "+".join(["1"] * 200_000), f"SELECT '{'x' * (50 * MEGABYTE)}'",
                f"VALUES {','.join(['(1,2)'] * 200_000)}", "SELECT 1;" * 100_000):
        if time.monotonic() > until:
            return
        connection.query(sql)


def long_parameters(connection, until):
    value = "y" * (60 * MEGABYTE)
    while time.monotonic() < until:
        connection.send(parse("SELECT length($1::text || $1::text)") + bind(values=(value,)) + execute() + SYNC)
        connection.results()


def long_copied_line(connection, until):
    connection.send(query("COPY written FROM STDIN"))
    connection.read_until(b"G", b"E")
    for _ in range(60):
        if time.monotonic() > until:
            break
        connection.send(message(b"d", b"c" * (4 * MEGABYTE)))
    connection.send(message(b"f", b"enough\0"))
    connection.results()


def copied_rows(connection, until):
    connection.query("BEGIN")
    connection.query("COPY written FROM STDIN", b"".join(b"%d\t%s\n" % (number, b"c" * 200) for number in range(100_000)))
    connection.query("ROLLBACK")


PROTOCOL = {work.__name__.replace("_", " "): work for work in (held_cursors, prepared_statements, portals, half_messages, unread_answers, unread_rows, long_texts,
                                                              long_parameters, long_copied_line, copied_rows)}
WORKS = {**STATEMENTS, **PROTOCOL}


class HostileClients:
    """`count` clients of a server, each with one work after the other, until `stop`. Unexpected errors are in `failures`, the number of runs
    that were complete and of those that were refused in `done` and `refused`, by the name of the work."""

    def __init__(self, server, count, works=None):
        self.server = server
        self.works = list((works or WORKS).items())
        self.until = float("inf")
        self.failures, self.done, self.refused = [], {}, {}
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(count)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.until = time.monotonic()
        for thread in self.threads:
            thread.join()

    def work(self, number):
        turn = number * 7
        while time.monotonic() < self.until:
            name, work = self.works[turn % len(self.works)]
            turn += 1
            self.note(name, self.run(work))

    def note(self, name, outcome):
        with self.lock:
            if outcome is None:
                self.done[name] = self.done.get(name, 0) + 1
            elif outcome in REFUSALS or outcome == "closed":
                self.refused[name] = self.refused.get(name, 0) + 1
            else:
                self.failures.append((name, outcome))

    def run(self, work):
        """None, an SQLSTATE, or the text of another failure."""
        connection = None
        try:
            connection = self.server.connect(timeout=30)
            until = min(self.until, time.monotonic() + 10)
            if callable(work):
                work(connection, until)
                return None
            connection.run("SET statement_timeout = '8s'")
            connection.send(query(work))
            return read_away(connection)
        except ServerError as error:
            return error.fields["C"]
        except (ConnectionClosed, ConnectionError, TimeoutError, BrokenPipeError):
            return "closed"
        except MemoryError:  # of this client
            return "closed"
        finally:
            if connection is not None:
                connection.abandon()
