"""psycopg2 as it is by default, without autocommit; pgbench's TPC-B."""
import os
import re
import shutil

import psycopg2
import psycopg2.errors
import psycopg2.extensions

from harness.programs import pgbench_options, run

LIMIT = 600  # seconds


def connect(server):
    return psycopg2.connect(host=server.host, port=server.port, user="postgres", dbname="postgres")


def test_psycopg2_without_autocommit(server):
    connection = connect(server)
    with connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS plain")
        cursor.execute("CREATE TABLE plain (id serial PRIMARY KEY, name text UNIQUE, n integer)")
        cursor.execute("CREATE INDEX ON plain (n)")
        cursor.executemany("INSERT INTO plain (name, n) VALUES (%s, %s)", [(f"name {n}", n) for n in range(20)])
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*), sum(n) FROM plain WHERE n < 10")
        assert cursor.fetchone() == (10, 45)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute("UPDATE plain SET n = n + 100")
            cursor.execute("INSERT INTO plain (name) VALUES ('name 3')")
    except psycopg2.errors.UniqueViolation:
        pass
    else:
        raise AssertionError("no violation")
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT max(n) FROM plain")
        assert cursor.fetchone() == (19,)
    assert connection.get_transaction_status() == psycopg2.extensions.TRANSACTION_STATUS_IDLE
    connection.set_session(isolation_level="SERIALIZABLE", readonly=True)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM plain")
    except psycopg2.errors.ReadOnlySqlTransaction:
        pass
    else:
        raise AssertionError("a read-only transaction wrote")
    connection.close()


SCHEMA = """
    DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_tellers, pgbench_history;
    CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84));
    CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88));
    CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84));
    CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
    INSERT INTO pgbench_branches SELECT g, 0, '' FROM generate_series(1, 1) AS s(g);
    INSERT INTO pgbench_tellers SELECT g, 1, 0, '' FROM generate_series(1, 10) AS s(g);
    INSERT INTO pgbench_accounts SELECT g, 1, 0, '' FROM generate_series(1, 50000) AS s(g);
    INSERT INTO pgbench_accounts SELECT g, 1, 0, '' FROM generate_series(50001, 100000) AS s(g);
"""
BALANCED = ("SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history), "
            "(SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(delta) FROM pgbench_history), "
            "(SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(delta) FROM pgbench_history), (SELECT count(*) FROM pgbench_history)")


def pgbench(server, *options, env=None):
    binary = shutil.which("pgbench") or next(path for path in ("/usr/lib/postgresql/15/bin/pgbench",) if os.path.exists(path))
    output = run([binary, "-n", "-b", "tpcb-like", "-j", 2, *options, *pgbench_options(server)], timeout=500, env=env)
    processed = re.search(r"transactions actually processed: (\d+)/(\d+)", output)
    assert processed and processed[1] == processed[2], output
    return int(processed[1])


def test_pgbench_tpcb_like(server):
    done = 0
    with server.connect(timeout=120) as connection:
        for statement in SCHEMA.split(";"):
            if statement.strip():
                connection.run(statement)
        for mode in ("simple", "prepared"):
            done += pgbench(server, "-M", mode, "-c", 4, "-t", 20)
            assert connection.run(BALANCED) == [["t", "t", "t", str(done)]]
        for table in ("branches", "tellers", "history"):
            assert connection.run(f"SELECT * FROM redquel.check_indexes('pgbench_{table}')") == []


def test_pgbench_at_repeatable_read(server):
    """Every transaction changes the one branch: all but one of those at a time are to be tried again."""
    with server.connect(timeout=120) as connection:
        for statement in SCHEMA.split(";"):
            if statement.strip():
                connection.run(statement)
        for level in ("repeatable read", "serializable"):
            connection.run("DELETE FROM pgbench_history; UPDATE pgbench_branches SET bbalance = 0; UPDATE pgbench_tellers SET tbalance = 0; "
                           "UPDATE pgbench_accounts SET abalance = 0 WHERE abalance <> 0")
            options = {"PGOPTIONS": "-c default_transaction_isolation=" + level.replace(" ", "\\ ")}
            done = pgbench(server, "-c", 4, "-t", 20, "--max-tries", 0, "--latency-limit", 100000, env=options)
            assert done == 80 and connection.run(BALANCED) == [["t", "t", "t", "80"]]
