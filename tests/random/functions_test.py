"""Every function, operator and cast over copies in memory, over Redis and over constants: PostgreSQL's answers, and no internal error.

The tables hold extreme values, NULLs, columns without a value, values of rows that are gone, and texts that other programs wrote. A run calls a
random part of the functions; FUNCTION_SECONDS says how long it goes on."""
import collections
import os
import random as random_module
import sys
import threading
import time
import traceback
from itertools import zip_longest

sys.path.insert(0, os.path.dirname(__file__))
from function_generator import OTHERWISE, UNDER, VALUES, Call, calls_of, literal  # noqa: E402

from harness import memory  # noqa: E402
from harness.pgwire import ConnectionClosed  # noqa: E402

SLOW = True
LIMIT = 100_000 if "FUNCTION_SECONDS" in os.environ else 600
SECONDS = {"release": 45, "asan": 40}
WORKERS = 2
SHOWN = int(os.environ.get("FUNCTION_SHOWN", "5"))
NOT_BUILT, TIMEOUT, INTERNAL = ("0A000", "42883"), "57014", "XX000"
BPCHAR = 1042
ROWS, COPIES, GONE = 40, 4, 30

ATTEMPT = """
CREATE FUNCTION attempt(expression text, source text) RETURNS TABLE (k int, state text) LANGUAGE plpgsql AS $$
BEGIN
  FOR k IN EXECUTE format('SELECT DISTINCT k FROM %I ORDER BY 1', source) LOOP
    state := NULL;
    BEGIN
      EXECUTE format('SELECT (%s)::text FROM %I WHERE k = $1', expression, source) USING k;
    EXCEPTION WHEN OTHERS THEN state := SQLSTATE;
    END;
    RETURN NEXT;
  END LOOP;
END $$"""


# Queries that pass values of a column along. Numbers, times and the like print as texts: a row that another program wrote prints as it is written.
SHAPES = [
    "SELECT a.id, b.{c}::text FROM {v} a LEFT JOIN {v} b ON b.id = a.k + {m} AND b.k < {r} ORDER BY 1",
    "SELECT a.id, a.{c}::text FROM {v} a LEFT JOIN {v} b ON b.id = a.k * {m} WHERE a.k < {r} ORDER BY 1",
    "SELECT a.id, b.{c}::text FROM {v} a LEFT JOIN LATERAL (SELECT * FROM {v} c WHERE c.id = a.k LIMIT 1) b ON true ORDER BY 1",
    "SELECT a.id, b.id, coalesce(a.{c}, b.{c})::text FROM {v} a FULL JOIN (SELECT * FROM {v} WHERE k % {m} = 0) b ON a.id = b.id + {m} ORDER BY 1, 2",
    "SELECT a.k, count(*) FROM {v} a JOIN {v} b ON a.{c} = b.{c} WHERE b.k < {r} GROUP BY 1 ORDER BY 1",
    "SELECT a.k, count(b.id) FROM {v} a LEFT JOIN {v} b ON a.{c} = b.{c} AND a.k < b.k GROUP BY 1 ORDER BY 1",
    "SELECT count(*) FROM {v} GROUP BY {c} ORDER BY 1",
    "SELECT count(DISTINCT {c}), count({c}) FROM {v}",
    "SELECT id FROM {v} ORDER BY {c} NULLS FIRST, id LIMIT {r}",
    "SELECT id FROM {v} ORDER BY {c} DESC, id",
    "SELECT k, id, row_number() OVER (PARTITION BY k % {m} ORDER BY {c}, id) FROM {v} ORDER BY 2",
    "SELECT id, lag({c}) OVER (ORDER BY id)::text, first_value({c}) OVER (PARTITION BY k % {m} ORDER BY id)::text FROM {v} ORDER BY 1",
    "SELECT k, {c}::text FROM (SELECT k, {c} FROM {v} UNION ALL SELECT id, {c} FROM {n}) u ORDER BY 1, 2",
    "SELECT count(*) FROM (SELECT {c} FROM {v} EXCEPT SELECT {c} FROM {v} WHERE k < {r}) u",
    "SELECT count(*) FROM {v} WHERE {c} IN (SELECT {c} FROM {v} WHERE k < {r})",
    "SELECT count(*) FROM {v} WHERE {c} NOT IN (SELECT {c} FROM {v} WHERE k < {r} AND {c} IS NOT NULL)",
    "SELECT id FROM {v} a WHERE EXISTS (SELECT FROM {v} b WHERE b.{c} = a.{c} AND b.k = {r}) ORDER BY 1",
    "SELECT a.id, (SELECT count(*) FROM {v} b WHERE b.{c} = a.{c}) FROM {v} a WHERE a.k < {m} ORDER BY 1",
    "WITH w AS MATERIALIZED (SELECT * FROM {v}) SELECT a.id, b.{c}::text FROM w a JOIN w b ON a.k = b.k AND a.id < b.id ORDER BY 1, b.id",
    "SELECT k, array_agg({c} ORDER BY id)::text FROM {v} GROUP BY k ORDER BY k",
    "SELECT k, string_agg({c}::text, ',' ORDER BY id) FROM {v} WHERE k > {r} GROUP BY k ORDER BY k",
    "SELECT max(id) FILTER (WHERE {c} IS NULL), min(id) FILTER (WHERE {c} IS NOT NULL) FROM {v} WHERE k > {r}",
]


class World:
    """Tables of a column for each type on both servers: one with values, one with NULLs, and one without rows."""

    def __init__(self, seed, number, oracle, subject):
        self.random = random_module.Random(seed)
        self.seed, self.number, self.oracle, self.subject = seed, number, oracle, subject
        self.values, self.nulls, self.empty = (f"{name}{number}" for name in ("filled", "nulls", "empty"))
        self.counts = collections.Counter()
        self.complaints, self.is_lost = [], False
        self.columns = {}  # type: name
        for kind in VALUES:
            if not subject.query(f"CREATE TABLE probe_{self.values} (c {kind})")[0].error:
                subject.run(f"DROP TABLE probe_{self.values}")
                self.columns[kind] = f"c{len(self.columns)}"

    def make(self, redis):
        definition = ", ".join(f"{name} {kind}" for kind, name in self.columns.items())
        for table in (self.values, self.nulls, self.empty):
            self.both(f"CREATE TABLE {table} (id int PRIMARY KEY, k int, {definition})")
        rows = []
        for k in range(ROWS + GONE):
            rows.append([k, *(self.value(kind, k) for kind in self.columns)])
        for first in range(0, len(rows), 10):
            values = ", ".join(f"({row[0] * COPIES + copy}, {', '.join(map(str, row))})" for row in rows[first:first + 10] for copy in range(COPIES))
            self.both(f"INSERT INTO {self.values} VALUES {values}")
        self.both(f"INSERT INTO {self.nulls} (id, k) SELECT i, i FROM generate_series(1, 8) i")
        for kind, text in OTHERWISE.items():
            if kind in self.columns:
                k = self.random.randrange(ROWS)
                for copy in range(COPIES):
                    redis("HSET", f"values_{self.number}:{self.values}:{k * COPIES + copy}", self.columns[kind], text)
                self.oracle.run(f"UPDATE {self.values} SET {self.columns[kind]} = '{text}' WHERE k = {k}")
        for table in (self.values, self.nulls, self.empty):  # fills the copies
            for _ in range(2):
                self.subject.run(f"SELECT * FROM {table}")
        self.both(f"DELETE FROM {self.values} WHERE k >= {ROWS}")
        self.oracle.run(ATTEMPT)

    def both(self, statement):
        self.oracle.run(statement)
        self.subject.run(statement)

    def value(self, kind, k):
        values = VALUES[kind]
        if self.random.random() < 0.2:
            return "NULL"
        return literal(values[k] if k < len(values) else self.random.choice(values))

    def argument(self, kind, is_constant):
        kind = UNDER.get(kind, kind)
        if kind in self.columns and not is_constant:
            return self.columns[kind]
        chosen = "NULL" if self.random.random() < 0.06 else literal(self.random.choice(VALUES[kind]))
        return f"{chosen}::{kind}"

    def ask(self, call):
        """Calls one function over columns, and over constants."""
        shares = self.random.choice([0, 0.4, 0.7])
        of_columns = [self.random.random() >= shares for _ in call.parameters]
        of_columns[self.random.randrange(len(of_columns))] = True
        self.constants(call.write(*(self.argument(kind, True) for kind in call.parameters)), call)
        expression = call.write(*(self.argument(kind, not is_column) for kind, is_column in zip(call.parameters, of_columns)))
        if not any(name in expression.replace("(", " ").replace(")", " ").replace(",", " ").replace(":", " ").split() for name in self.columns.values()):
            return
        attempts = self.oracle.query(f"SELECT * FROM attempt({literal(expression)}, '{self.values}')")[0]
        if attempts.error:
            self.counts["PostgreSQL " + attempts.sqlstate] += 1
            return
        good = [row[0].decode() for row in attempts.rows if row[1] is None]
        bad = [(row[0].decode(), row[1].decode()) for row in attempts.rows if row[1] is not None]
        condition = f"({expression})" if call.result == "boolean" else self.random.choice([f"({expression}) IS NOT NULL", f"({expression})::text <> ''"])
        picked = f"k = ANY ('{{{','.join(good)}}}')"
        statements = [f"SELECT DISTINCT k, {expression}::text FROM {self.values} WHERE {picked} ORDER BY 1" if self.random.random() < 0.2 else
                      f"SELECT k, {expression} FROM {self.values} WHERE {picked} ORDER BY id",
                      *((f"SELECT id FROM {self.values} WHERE {picked} AND {written} ORDER BY id", f"SELECT id FROM {self.values} WHERE CASE WHEN {picked} THEN {written} END ORDER BY id")
                        for written in (condition, f"NOT {condition}")),
                      f"SELECT count(*) FROM {self.nulls} WHERE {condition}", f"SELECT k, {expression} FROM {self.nulls} ORDER BY id",
                      f"SELECT {expression} FROM {self.empty} WHERE {condition}"]
        if not bad:
            statements += [f"SELECT count(*) FROM {self.values} WHERE {condition}", f"SELECT id FROM {self.values} WHERE {condition} IS NULL ORDER BY id"]
        for statement in statements:
            # PostgreSQL evaluates what costs less first: only CASE keeps it from the rows that fail.
            statement, of_oracle = statement if isinstance(statement, tuple) else (statement, statement)
            if not self.compare(statement, call, True, of_oracle):
                return
        for k, state in self.random.sample(bad, min(2, len(bad))):
            self.compare(f"SELECT {expression} FROM {self.values} WHERE k = {k}", call, True)

    def constants(self, expression, call):
        self.compare(f"SELECT {expression}", call, False)

    def pass_along(self):
        """Values of one column that operators pass along: some batches of it are texts, others are values."""
        kind, column = self.random.choice(list(self.columns.items()))
        shape = self.random.choice(SHAPES).format(c=column, v=self.values, n=self.nulls, m=self.random.randrange(2, 9), r=self.random.randrange(ROWS))
        self.compare(shape, Call(f"shapes of {kind}", [kind], None, kind), True)

    def compare(self, statement, call, reads_copy, of_oracle=None):
        """Returns False if the servers' answers show that more of this call is not worth the time."""
        expected = self.oracle.query(of_oracle or statement)[0]
        if expected.sqlstate == TIMEOUT:
            self.counts["PostgreSQL took too long"] += 1
            return False
        started = time.monotonic()
        try:
            got = self.subject.query(statement)[0]
        except (ConnectionClosed, OSError) as error:
            self.is_lost = True
            self.complaints.append(f"world {self.seed}: {statement}\n  {error!r}")
            return False
        took = time.monotonic() - started
        self.counts["statements"] += 1
        if got.sqlstate in NOT_BUILT and got.sqlstate != expected.sqlstate:
            self.counts["not built"] += 1
            self.counts["not built: " + call.name] += 1
            return False
        if took > 20:
            self.counts[f"slow: {statement}"] += 1
        if got.sqlstate == TIMEOUT:
            self.counts["too long"] += 1
            self.counts["too long: " + statement] += 1
            return False
        if got.sqlstate == INTERNAL and expected.sqlstate != INTERNAL:
            return self.complain(statement, expected, got)
        if not call.is_compared:
            return True
        if not same(expected, got):
            return self.complain(statement, expected, got)
        if reads_copy and self.random.random() < 0.3:
            self.subject.run("SET redquel.cache = off")
            plain = self.subject.query(statement)[0]  # compared with PostgreSQL's answer, too
            self.subject.run("SET redquel.cache = on")
            if not same(expected, plain):
                return self.complain("without copies: " + statement, expected, plain)
        return True

    def complain(self, statement, expected, got):
        rows = [result.texts() for result in (expected, got)]
        different = [pair for pair in zip_longest(*rows) if pair[0] != pair[1]][:3]
        only = [[pair[side] for pair in different] for side in (0, 1)]
        self.complaints.append(f"world {self.seed}: {statement}\n  PostgreSQL: {shown(expected, only[0])}\n  redquel:    {shown(got, only[1])}")
        return False


def same(expected, got):
    """An internal error of PostgreSQL is any error here. Values of char(n) that a function returns have no blanks here."""
    if expected.error or got.error:
        return expected.sqlstate == got.sqlstate or (expected.sqlstate == INTERNAL and got.error is not None)
    return without_padding(expected) == without_padding(got) and [column.type_oid for column in expected.columns] == [column.type_oid for column in got.columns]


def without_padding(result):
    padded = [column.type_oid == BPCHAR for column in result.columns]
    return [[value.rstrip(b" ") if value and is_padded else value for value, is_padded in zip(row, padded)] for row in result.rows] if any(padded) else result.rows


def shown(result, rows):
    if result.error:
        return f"{result.error['C']} {result.error['M']}"
    return f"{[column.type_oid for column in result.columns]} only {rows[:3]!r}"[:600]


def test_functions_see_values_only(postgres, make_redis, make_server, random, build):
    seconds = int(os.environ.get("FUNCTION_SECONDS", SECONDS.get(os.path.basename(build), 40)))
    seed = random.randrange(1 << 32)
    redis, (server,) = memory.start(make_redis, make_server, count=1)
    end = time.monotonic() + seconds
    worlds, complaints = [], []

    def work(number):
        schema = f"values_{number}"
        name = postgres.create_database()
        with postgres.connect(name) as oracle, server.connect(timeout=300) as subject:
            for connection in (oracle, subject):
                connection.run(f"CREATE SCHEMA {schema}")
                connection.run(f"SET search_path = {schema}, pg_catalog")
            oracle.run("SET statement_timeout = '3s'")
            subject.run("SET statement_timeout = '15s'")
            world = World(seed + number, number, oracle, subject)
            worlds.append(world)
            with redis.connect() as commands:
                world.make(commands)
            calls = []
            while time.monotonic() < end and len(world.complaints) < SHOWN and not world.is_lost:
                if not calls:
                    calls = calls_of(oracle, subject, world.random)
                    only = os.environ.get("FUNCTION_ONLY")
                    calls = [call for call in calls if not only or only in call.name]
                    world.random.shuffle(calls)
                world.ask(calls.pop())
                world.pass_along()
        postgres.drop_database(name)

    def guarded(number):
        try:
            work(number)
        except Exception:
            complaints.append(traceback.format_exc())

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for world in worlds:
        complaints += world.complaints
    counts = sum((world.counts for world in worlds), collections.Counter())
    if "FUNCTION_SECONDS" in os.environ:
        print("\n".join(f"{count} {name}" for name, count in counts.most_common(400)))
    if complaints:
        raise AssertionError("\n".join(complaints))
    assert counts["statements"] > seconds and memory.hits(server) > 0
