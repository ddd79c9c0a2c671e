#!/usr/bin/python3
"""What a maintained view costs its table's writers, and what it gives its readers: updates that move a row between groups with 0 to 3 views, the read of
a group beside the query in PostgreSQL, writers of one group beside PostgreSQL with a trigger that updates the group's row.

    bench/maintained_views.py [--build build/release] [--rows 200000]"""
import argparse
import os
import sys
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "bench")]
from cluster import cpu_seconds
from harness.pgwire import ServerError
from harness.servers import Postgres, Redis, Redquel

UPDATES, GROUPS, WRITERS, SECONDS = 1500, 50, 16, 5
EMP = "CREATE TABLE emp (id int PRIMARY KEY, dept int NOT NULL, region int NOT NULL, salary int NOT NULL, bonus int NOT NULL)"
QUERIES = ["SELECT dept, count(*), sum(salary) FROM emp GROUP BY dept", "SELECT dept, region, count(*), avg(salary) FROM emp GROUP BY dept, region",
           "SELECT dept, count(bonus), sum(bonus) FROM emp WHERE salary > 10 GROUP BY dept"]
HOT = "CREATE TABLE hot (id int PRIMARY KEY, g int NOT NULL, x int NOT NULL)"
TRIGGER = ["CREATE TABLE sums (g int PRIMARY KEY, n bigint, x bigint)", "INSERT INTO sums VALUES (1, 0, 0)",
           "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE sums SET n = n + 1, x = x + NEW.x WHERE g = NEW.g; RETURN NULL; END $$",
           "CREATE TRIGGER keeps AFTER INSERT ON hot FOR EACH ROW EXECUTE FUNCTION keep()"]


def fill(connection, rows):
    connection.run(EMP)
    connection.run("CREATE INDEX ON emp (dept)")
    connection.run(f"INSERT INTO emp SELECT i, i % {GROUPS}, i % 7, i % 1000, i % 30 FROM generate_series(1, {rows}) i")


def microseconds(connection, statement, count):
    """Returns the time of a statement of a number."""
    begun = time.monotonic()
    for number in range(count):
        connection.run(statement(number))
    return (time.monotonic() - begun) / count * 1e6


def move(number):
    return f"UPDATE emp SET dept = (dept + 1) % {GROUPS} WHERE id = {number + 1}"


def writers_of_one_group(server):
    """Returns the inserts per second of all writers."""
    done, stopped = [0] * WRITERS, threading.Event()

    def write(writer):
        with server.connect() as connection:
            for number in range(1, 1_000_000):
                if stopped.is_set():
                    return
                try:
                    connection.run(f"INSERT INTO hot VALUES ({writer * 1_000_000 + number}, 1, {number})")
                    done[writer] += 1
                except ServerError as error:
                    if error.sqlstate not in ("40001", "40P01"):
                        raise

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    time.sleep(SECONDS)
    stopped.set()
    for thread in threads:
        thread.join()
    return sum(done) / SECONDS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--rows", type=int, default=200_000)
    options = parser.parse_args()
    redis = Redis().start()
    server = Redquel(options.build, redis, "--threads", "2").start()
    postgres = Postgres().start()
    try:
        with server.connect() as connection, postgres.connect() as oracle:
            fill(connection, options.rows)
            fill(oracle, options.rows)
            for views in range(len(QUERIES) + 1):
                if views:
                    connection.run(f"CREATE MATERIALIZED VIEW v{views} WITH (maintained) AS {QUERIES[views - 1]}")
                microseconds(connection, move, 100)
                used = cpu_seconds(redis)
                taken = microseconds(connection, move, UPDATES)
                print(f"update that moves a row, {views} views: {taken:.0f} µs, {(cpu_seconds(redis) - used) / UPDATES * 1e6:.0f} µs of Redis's processor", flush=True)
            print(f"update of a column that no view reads: {microseconds(connection, lambda k: f'UPDATE emp SET id = id WHERE id = {k + 1}', UPDATES):.0f} µs")
            print(f"read of a group: {microseconds(connection, lambda k: f'SELECT * FROM v1 WHERE dept = {k % GROUPS}', UPDATES):.0f} µs")
            print(f"the query in PostgreSQL, {options.rows} rows: {microseconds(oracle, lambda k: QUERIES[0], 5):.0f} µs; "
                  f"of one group: {microseconds(oracle, lambda k: QUERIES[0].replace('GROUP', f'WHERE dept = {k} GROUP'), 20):.0f} µs")
            connection.run(HOT)
            connection.run("CREATE MATERIALIZED VIEW h WITH (maintained) AS SELECT g, count(*), sum(x) FROM hot GROUP BY g")
            oracle.run(HOT)
            for statement in TRIGGER:
                oracle.run(statement)
        print(f"{WRITERS} writers of one group: redquel {writers_of_one_group(server):.0f} a second, PostgreSQL with a trigger {writers_of_one_group(postgres):.0f}")
    finally:
        for thing in (server, redis, postgres):
            thing.stop()


if __name__ == "__main__":
    main()
