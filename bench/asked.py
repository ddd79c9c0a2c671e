#!/usr/bin/python3
"""Queries that applications ask all day: their time beside PostgreSQL's at two sizes of the same shop.

    bench/asked.py [--build build/release] [--sizes 20000,200000] [--runs 5] [--only CLASS] [--indexes hash,zset] [--json FILE] [--base FILE]

Prints for each query the best wall time of both servers, the ratio (PostgreSQL's time divided by redquel's: above 1, redquel is faster), the
same ratio of processor time, the commands that Redis got, the microseconds of processor that Redis and redquel needed, and how the times grow
from one size to the next. Then the geometric means, the queries below a quarter of PostgreSQL's speed, and those that grow where PostgreSQL's
do not. --indexes: the kinds of those for equality and for order, btree,btree for plain CREATE INDEX; a third word adds indexes over pairs of
columns, hash,zset,zset those USING zset (both servers get them). --base compares with the --json of an earlier run. The rows of each query are compared with PostgreSQL's: in order where it has one.
"""
import argparse
import json
import math
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness import pgwire, processes  # noqa: E402
from harness.servers import Postgres, Redis, Redquel  # noqa: E402
from asked_queries import FOREIGN, PAIRS, QUERIES, ROWS, SCHEMA, STATES, TWIN, foreign_commands  # noqa: E402
from servers import REDIS_OPTIONS  # noqa: E402
from stopwatch import processor_seconds  # noqa: E402

LEAST, GROWTH = 0.25, 2.0  # a query below this ratio is slow; one that grows so many times as much as PostgreSQL's grows


class Shop:
    """Both servers with the same rows."""

    def __init__(self, build, purchases, indexes=("hash", "zset")):
        self.build, self.purchases, self.indexes = os.path.abspath(build), purchases, indexes
        self.started = []

    def __enter__(self):
        self.redis = self._start(Redis(*REDIS_OPTIONS))
        self.redquel = self._start(Redquel(self.build, self.redis))
        self.postgres = self._start(Postgres())
        self.subject, self.oracle = self.redquel.connect(timeout=600.0), self.postgres.connect(timeout=600.0)
        self._load(self.subject, *self.indexes)
        self._load(self.oracle, *("btree" for _ in self.indexes))
        players = self.purchases // 4
        with self.redis.connect() as redis:
            commands = list(foreign_commands(players))
            for first in range(0, len(commands), 10_000):
                redis.pipeline(commands[first:first + 10_000])
        for statement in FOREIGN.strip().split("\n"):
            self.subject.run(statement)
        for statement in TWIN.format(players=players).strip().split("\n"):
            self.oracle.run(statement)
        for connection in (self.oracle, self.subject):
            connection.run("ANALYZE")
        self.oracle.run("VACUUM")
        self.oracle.run("CHECKPOINT")
        return self

    def __exit__(self, *_):
        for server in reversed(self.started):
            server.stop()

    def _start(self, server):
        self.started.append(server)
        return server.start()

    def _load(self, connection, unordered, ordered, pairs=""):
        counts = {table: round(self.purchases * share) for table, (share, _) in ROWS.items()}
        for statement in (SCHEMA.format(hash=unordered, ordered=ordered) + (PAIRS.format(method=pairs) if pairs else "")).split("\n"):
            if statement:
                connection.run(statement)
        for table, (_, insert) in ROWS.items():
            for first in range(1, counts[table] + 1, 50_000):
                connection.run(insert.format(first=first, last=min(first + 49_999, counts[table]), customers=counts["customer"], products=counts["product"],
                                             purchases=counts["purchase"], reviews=counts["review"], states=", ".join(f"'{state}'" for state in STATES)))

    def text(self, query):
        middle = self.purchases // 2
        minutes = middle * 7919 % self.purchases
        page = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1640995200 + minutes * 60))
        return query.format(middle=middle, page=page)

    def commands(self, redis):
        return int(redis.info("stats")["total_commands_processed"])

    @staticmethod
    def redis_microseconds(redis):
        found = redis.info("cpu")
        return 1e6 * (float(found["used_cpu_user_main_thread"]) + float(found["used_cpu_sys_main_thread"]))


def ask(connection, message):
    connection.send(message)
    connection.read_until(b"Z")


def best_of(runs, connection, message):
    """The least seconds of a run."""
    best = math.inf
    for _ in range(runs):
        begun = time.perf_counter()
        ask(connection, message)
        best = min(best, time.perf_counter() - begun)
    return best


def measure(shop, query, runs):
    """The figures of one query: seconds, microseconds of processor time, commands. Compares the rows first."""
    text = shop.text(query)
    message = pgwire.query(text)
    is_write = not text.startswith(("SELECT", "WITH", "("))
    expected, found = shop.oracle.run(text), shop.subject.run(text)
    has_order = "ORDER BY" in text
    if expected != found and (has_order or sorted(map(str, expected)) != sorted(map(str, found))):
        print(f"DIFFERENT ROWS: {text}\n  PostgreSQL {expected[:5]}\n  redquel    {found[:5]}", flush=True)
    ask(shop.subject, message)
    ask(shop.oracle, message)
    one = best_of(1, shop.subject, message)
    counted = 1 if one > 0.3 else runs
    with shop.redis.connect() as redis:
        commands, cpu, own = shop.commands(redis), shop.redis_microseconds(redis), processor_seconds(shop.redquel.process.pid)
        redquel = min(one, best_of(counted, shop.subject, message))
        own = processor_seconds(shop.redquel.process.pid) - own
        cpu, commands = shop.redis_microseconds(redis) - cpu, shop.commands(redis) - commands - 1
    backend = processor_seconds(shop.postgres.process.pid)
    postgres = best_of(counted if is_write else runs, shop.oracle, message)
    backend = processor_seconds(shop.postgres.process.pid) - backend
    return {"postgres": postgres, "redquel": redquel, "postgres_cpu": 1e6 * backend / (counted if is_write else runs), "redquel_cpu": 1e6 * own / counted,
            "redis_cpu": max(cpu, 1) / counted, "commands": commands / counted}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def ratio(figures):
    return figures["postgres"] / figures["redquel"]


def processor_ratio(figures):
    return max(figures["postgres_cpu"], 1) / max(figures["redquel_cpu"] + figures["redis_cpu"], 1)


def report(results, sizes, base):
    smallest, largest = sizes[0], sizes[-1]
    print(f"{'class':21}{'PG ms':>9}{'ms':>9}{'ratio':>8}{'cpu ratio':>10}{'commands':>10}{'Redis us':>10}{'own us':>9}{'growth':>8}{'of PG':>7}  query")
    for kind, query in QUERIES:
        by_size = results.get(query)
        if by_size is None:
            continue
        last, first = by_size[str(largest)], by_size[str(smallest)]
        before = base and base.get(query, {}).get(str(largest))
        change = f"  (before: {ratio(before):.2f})" if before else ""
        print(f"{kind:21}{1e3 * last['postgres']:9.2f}{1e3 * last['redquel']:9.2f}{ratio(last):8.2f}{processor_ratio(last):10.2f}{last['commands']:10.0f}"
              f"{last['redis_cpu']:10.0f}{last['redquel_cpu']:9.0f}{last['redquel'] / first['redquel']:8.1f}{last['postgres'] / first['postgres']:7.1f}  {query[:110]}{change}")
    for size in sizes:
        figures = [by_size[str(size)] for by_size in results.values()]
        slow = sum(ratio(f) < LEAST for f in figures)
        print(f"{size} purchases: geometric mean {geometric_mean([ratio(f) for f in figures]):.2f} of PostgreSQL's speed, "
              f"{geometric_mean([processor_ratio(f) for f in figures]):.2f} by processor time; {slow} of {len(figures)} queries below {LEAST}")
    grows = [query for query, by_size in results.items() if by_size[str(largest)]["redquel"] / by_size[str(smallest)]["redquel"]
             > GROWTH * max(1, by_size[str(largest)]["postgres"] / by_size[str(smallest)]["postgres"])]
    if smallest != largest:
        print(f"{len(grows)} queries grow more than {GROWTH} times as much as PostgreSQL's")
    for query in grows if smallest != largest else ():
        print(f"  grows: {query[:150]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--sizes", default="20000,200000")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="classes that contain this text")
    parser.add_argument("--indexes", default="hash,zset", help="the kinds of indexes for equality and for order")
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--base", help="figures of an earlier run")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    results = {}
    processes.start_guardian()
    for size in sizes:
        with Shop(options.build, size, options.indexes.split(",")) as shop:
            for kind, query in QUERIES:
                if options.only in kind:
                    results.setdefault(query, {})[str(size)] = measure(shop, query, options.runs)
    base = None
    if options.base:
        with open(options.base, encoding="utf-8") as file:
            base = json.load(file)
    report(results, sizes, base)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
