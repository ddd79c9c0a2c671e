#!/usr/bin/python3
"""Indexes USING gin beside PostgreSQL's: searches by words, elements, jsonb and trigrams, and what an insert costs.

    bench/entries.py [--build build/release] [--rows 200000] [--runs 7]

Prints for each query the best wall time of both servers and the ratio (above 1, redquel is faster), with the processor time of Redis and redquel together beside
that of PostgreSQL. The rows are compared. Then the processor time of inserts into a table with one such index, a row.
"""
import argparse
import contextlib
import math
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness import pgwire  # noqa: E402
from harness.servers import Postgres, Redis, Redquel  # noqa: E402
from asked import ask, best_of  # noqa: E402
from servers import REDIS_OPTIONS  # noqa: E402
from stopwatch import processor_seconds  # noqa: E402

ROWS = 4000  # that inserts are measured with
WORDS = 5000  # of which a document has twelve, the first ones more often than the last ones
TABLE = "CREATE TABLE doc{suffix} (id int PRIMARY KEY, title text NOT NULL, words tsvector NOT NULL, tags text[] NOT NULL, body jsonb NOT NULL)"
INDEXES = ["(words)", "(tags)", "(body jsonb_path_ops)", "(title gin_trgm_ops)"]
DOCUMENTS = """
INSERT INTO doc{suffix} SELECT i, title, to_tsvector('simple', title), ARRAY['t' || i % 400, 'u' || i % 37, 'v' || i % 1009],
  jsonb_build_object('state', 's' || i % 5, 'owner', jsonb_build_object('id', i % 2000, 'name', 'name ' || i % 500), 'size', i % 100)
FROM (SELECT i, string_agg('w' || (power((i::bigint * 7919 + j * j * 104729 + i::bigint * j * 611953) % 100003 / 100003.0, 2) * {words})::int || 'x', ' ' ORDER BY j) AS title
      FROM generate_series({first}, {last}) i, generate_series(1, 12) j GROUP BY i) made"""
QUERIES = [
    ("two words, count", "SELECT count(*) FROM doc WHERE words @@ to_tsquery('simple', 'w40x & w90x')"),
    ("two words, rows", "SELECT id, title FROM doc WHERE words @@ to_tsquery('simple', 'w40x & w90x') ORDER BY id"),
    ("two words, one of them rare", "SELECT id, title FROM doc WHERE words @@ to_tsquery('simple', 'w4900x & w3x') ORDER BY id"),
    ("either word", "SELECT count(*) FROM doc WHERE words @@ to_tsquery('simple', 'w1500x | w2500x')"),
    ("jsonb @>, nested", "SELECT id, body FROM doc WHERE body @> '{\"owner\": {\"id\": 77}}' ORDER BY id"),
    ("jsonb @>, two members", "SELECT id, body FROM doc WHERE body @> '{\"state\": \"s2\", \"owner\": {\"name\": \"name 77\"}}' ORDER BY id"),
    ("array &&, count", "SELECT count(*) FROM doc WHERE tags && '{t7,v9}'"),
    ("array &&, rows", "SELECT id, tags FROM doc WHERE tags && '{t7,v9}' ORDER BY id"),
    ("array @>", "SELECT id, tags FROM doc WHERE tags @> '{t7,u7}' ORDER BY id"),
    ("ILIKE, some rows", "SELECT id, title FROM doc WHERE title ILIKE '%w4987%' ORDER BY id"),
    ("ILIKE, many rows", "SELECT count(*) FROM doc WHERE title ILIKE '%498%'"),
]


def load(connection, rows, postgres):
    connection.run("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    connection.run(TABLE.format(suffix=""))
    for first in range(1, rows + 1, 20_000):
        connection.run(DOCUMENTS.format(suffix="", first=first, last=min(first + 19_999, rows), words=WORDS))
    for index in INDEXES:
        connection.run(f"CREATE INDEX ON doc USING gin {index}")
    connection.run("ANALYZE")
    if postgres:
        connection.run("VACUUM doc")  # its pending lists


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    redis = Redis(*REDIS_OPTIONS)
    redquel, postgres = Redquel(os.path.abspath(options.build), redis), Postgres()
    with contextlib.ExitStack() as started:
        for server in (redis, redquel, postgres):
            server.start()
            started.callback(server.stop)
        subject, oracle = redquel.connect(timeout=900.0), postgres.connect(timeout=900.0)
        load(subject, options.rows, False)
        load(oracle, options.rows, True)
        print(f"{'query':30} {'rows':>7} {'PostgreSQL ms':>14} {'redquel ms':>11} {'ratio':>6}")
        ratios = []
        for name, text in QUERIES:
            expected, found = oracle.run(text), subject.run(text)
            if expected != found:
                print(f"DIFFERENT ROWS: {text}\n  PostgreSQL {expected[:5]}\n  redquel    {found[:5]}", flush=True)
            message = pgwire.query(text)
            for connection in (oracle, subject):
                ask(connection, message)
            best = [math.inf, math.inf]
            for _ in range(options.runs):  # in turns
                for number, connection in enumerate((oracle, subject)):
                    best[number] = min(best[number], best_of(1, connection, message))
            ratios.append(best[0] / best[1])
            print(f"{name:30} {len(expected):7} {1000 * best[0]:14.2f} {1000 * best[1]:11.2f} {ratios[-1]:6.2f}", flush=True)
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
        for number, index in enumerate(INDEXES):
            figures = []
            for connection, servers in ((oracle, (postgres,)), (subject, (redis, redquel))):
                connection.run(TABLE.format(suffix=f"_{number}"))
                connection.run(f"CREATE INDEX gin_{number} ON doc_{number} USING gin {index}")
                begun = [processor_seconds(server.process.pid) for server in servers]
                for first in range(1, ROWS + 1, 20):
                    connection.run(f"INSERT INTO doc_{number} SELECT * FROM doc WHERE id BETWEEN {first} AND {first + 19}")
                if connection is oracle:
                    connection.run(f"SELECT gin_clean_pending_list('gin_{number}')")  # what it has put off
                figures += [1e6 * (processor_seconds(server.process.pid) - before) / ROWS for server, before in zip(servers, begun)]
            whole = (figures[1] + figures[2]) / figures[0]
            print(f"insert with {index:25} PostgreSQL {figures[0]:6.1f} us a row, Redis {figures[1]:6.1f} + redquel {figures[2]:6.1f}: {whole:5.2f} times")


if __name__ == "__main__":
    main()
