#!/usr/bin/python3
"""The instructions that Redis executes for statements that write rows, counted by callgrind. With two builds the second one's figures stand beside
the first one's, and all keys of rows and structures must be the same.

    bench/write_instructions.py BUILD [BUILD] [--only TEXT]

Needs valgrind. The instructions of a statement hold those of its reads and of redquel's looks at its own keys."""
import argparse
import os
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "bench")]
from cluster import OneRedis
from harness.processes import temporary_folder
from harness.programs import psql
from harness.servers import Redis, Redquel
from redis_instructions import counted, wrap_redis

SCHEMA = """
create table wide (id int primary key, a int, b int, c text, n int not null default 0, note text);
create index on wide (a); create index on wide (b); create index on wide (c); create unique index on wide (note);
create table plain (id int primary key, n int not null, t text);
create table child (id int primary key, parent int references plain (id), v int);
create table own (id serial primary key, v int);
create index on own (v);
insert into wide select i, i % 7, i % 11, 'c' || i % 5, 0, 'note ' || i from generate_series(1, 2000) i;
insert into plain select i, 0, 't' from generate_series(1, 2000) i;
insert into child select i, i, i from generate_series(1, 100) i;
"""


def wide(first, count):
    values = ", ".join(f"({i}, {i % 7}, {i % 11}, 'c{i % 5}', 0, 'note {i}')" for i in range(first, first + count))
    return f"insert into wide values {values};"


# Name, how many statements, the statement of a number, rows of one.
CASES = [
    ("insert 1 row, 4 indexes", 100, lambda k: wide(10_000 + k, 1), 1),
    ("insert 4 rows, 4 indexes, a row", 25, lambda k: wide(20_000 + 4 * k, 4), 4),
    ("insert 16 rows, 4 indexes, a row", 20, lambda k: wide(30_000 + 16 * k, 16), 16),
    ("insert 64 rows, 4 indexes, a row", 10, lambda k: wide(40_000 + 64 * k, 64), 64),
    ("insert 1,000 rows, 4 indexes, a row", 2, lambda k: wide(50_000 + 1000 * k, 1000), 1000),
    ("insert 1 row, serial key, 1 index", 100, lambda k: f"insert into own (v) values ({k % 5});", 1),
    ("insert 1 row, no index", 100, lambda k: f"insert into plain values ({10_000 + k}, 0, 't');", 1),
    ("insert 1 row with a foreign key", 100, lambda k: f"insert into child values ({10_000 + k}, {k + 1}, 0);", 1),
    ("upsert of a row that is there", 100, lambda k: f"insert into plain values ({k + 1}, 1, 't') on conflict (id) do update set n = plain.n + 1;", 1),
    ("update of an indexed column by key", 100, lambda k: f"update wide set a = {k % 5} where id = {k + 1};", 1),
    ("update of a unique column by key", 100, lambda k: f"update wide set note = 'other {k}' where id = {k + 1};", 1),
    ("increment of a plain column", 100, lambda k: f"update wide set n = n + 1 where id = {k + 1};", 1),
    ("increment of an indexed column", 100, lambda k: f"update wide set a = a + 1 where id = {k + 1};", 1),
    ("delete by key, 4 indexes", 100, lambda k: f"delete from wide where id = {200 + k};", 1),
    ("delete of 16 rows, 4 indexes, a row", 20, lambda k: f"delete from wide where id between {400 + 16 * k} and {415 + 16 * k};", 16),
    ("delete of a row that others refer to", 100, lambda k: f"delete from plain where id = {500 + k};", 1),
    ("transaction of an update and an insert", 50,
     lambda k: f"begin; update wide set a = 1 where id = {800 + k}; insert into plain values ({20_000 + k}, 0, 't'); commit;", 1),
]


def content(connection):
    """All keys but those of redquel's own processes and definitions, whose versions are made by chance."""
    reads = {"hash": lambda key: sorted(zip(*[iter(connection("HGETALL", key))] * 2)), "set": lambda key: sorted(connection("SMEMBERS", key)),
             "zset": lambda key: connection("ZRANGE", key, "0", "-1", "WITHSCORES"), "string": lambda key: connection("GET", key)}
    keys = [key for key in connection("KEYS", "*") if not key.startswith("redquel:") or key.startswith(("redquel:changes:", "redquel:locks:"))]
    return {key: reads[connection("TYPE", key)](key) for key in sorted(keys)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", type=os.path.abspath)
    parser.add_argument("--only", default="", help="statements whose names contain this")
    options = parser.parse_args()
    folder, started, places, servers = temporary_folder(), [], [], []
    wrap_redis(folder)

    def make_redis(*words):
        started.append(Redis(*words).start())
        return started[-1]
    try:
        for build in options.builds:
            places.append(OneRedis(make_redis))
            servers.append(Redquel(build, places[-1], "--threads", "1").start())
            started.append(servers[-1])
            psql(servers[-1], SCHEMA)
        print(f"{'instructions of Redis':40} " + " ".join(f"{os.path.basename(os.path.dirname(build)) + '/' + os.path.basename(build):>16}"[-16:]
                                                           for build in options.builds))
        for name, count, statement, rows in (case for case in CASES if options.only in case[0]):
            figures = []
            for place, server in zip(places, servers):
                psql(server, statement(count))  # plans, scripts
                counted(folder, place)
                begun = time.monotonic()
                psql(server, "\n".join(statement(k) for k in range(count)))
                taken, whole = time.monotonic() - begun, counted(folder, place)
                time.sleep(taken)  # what both do in the background in so much time
                figures.append((whole - counted(folder, place)) / count / rows)
            ratio = f" {figures[1] / figures[0]:8.2f}" if len(figures) > 1 else ""
            print(f"{name:40} " + " ".join(f"{figure:16,.0f}" for figure in figures) + ratio, flush=True)
        contents = [content(place.nodes[0].connect()) for place in places]
        for other in contents[1:]:
            different = [key for key in {**contents[0], **other} if contents[0].get(key) != other.get(key)]
            print("the keys are the same" if not different else f"different: {different[:20]}")
    finally:
        for thing in reversed(started):
            thing.stop()


if __name__ == "__main__":
    main()
