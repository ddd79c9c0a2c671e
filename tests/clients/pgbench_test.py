"""pgbench with scripts of its own, in its three protocol modes."""
import os
import re

from harness.pgwire import ServerError
from harness.processes import temporary_folder
from harness.programs import pgbench_options, psql, run

CONCURRENT = True
LIMIT = 600  # seconds
ROWS = 5000


def binary():
    path = "/usr/lib/postgresql/15/bin/pgbench"
    return path if os.path.exists(path) else "pgbench"


def prepare(server):
    psql(server, f"""
        DROP TABLE IF EXISTS bench;
        CREATE TABLE bench (id integer PRIMARY KEY, grp integer NOT NULL, n bigint NOT NULL, word text);
        CREATE INDEX bench_grp ON bench USING hash (grp);
        CREATE INDEX bench_n ON bench (n);
        INSERT INTO bench SELECT g, g % 50, g * 3, 'word ' || g FROM generate_series(1, {ROWS}) AS s(g);
    """)


def pgbench(server, script, mode, clients, transactions):
    path = os.path.join(temporary_folder(), "script.sql")
    with open(path, "w") as file:
        file.write(script)
    output = run([binary(), "-n", "-M", mode, "-f", path, "-c", clients, "-j", 2, "-t", transactions, *pgbench_options(server)], timeout=500)
    processed = re.search(r"transactions actually processed: (\d+)/(\d+)", output)
    assert processed and processed[1] == processed[2] == str(clients * transactions), output
    failed = re.search(r"failed transactions: (\d+)", output)
    assert not failed or failed[1] == "0", output


POINT = f"\\set id random(1, {ROWS})\nSELECT id, grp, n, word FROM bench WHERE id = :id;\n"


def test_point_select_simple(server):
    prepare(server)
    pgbench(server, POINT, "simple", 64, 50)


def test_point_select_extended(server):
    prepare(server)
    pgbench(server, POINT, "extended", 64, 50)


def test_point_select_prepared(server):
    prepare(server)
    pgbench(server, POINT, "prepared", 64, 50)


def test_reads_and_writes_mixed(server):
    prepare(server)
    script = (f"\\set id random(1, {ROWS})\n\\set grp random(0, 49)\n\\set d random(-10, 10)\n"
              "UPDATE bench SET n = n + :d WHERE id = :id;\nSELECT count(*) FROM bench WHERE grp = :grp;\n"
              "SELECT n FROM bench WHERE id = :id;\nSELECT id, n FROM bench ORDER BY n DESC LIMIT 5;\n")
    for mode in ("simple", "extended", "prepared"):
        pgbench(server, script, mode, 8, 25)
    with server.connect() as connection:
        assert connection.run("SELECT count(*) FROM bench") == [[str(ROWS)]]
        assert connection.run("SELECT * FROM redquel.check_indexes('bench')") == []


def test_inserts_and_deletes(server):
    prepare(server)
    script = "\\set id :client_id + 100000\nINSERT INTO bench VALUES (:id, :id % 50, :id, 'new');\nDELETE FROM bench WHERE id = :id;\n"
    pgbench(server, script, "prepared", 8, 25)
    with server.connect() as connection:
        assert connection.run("SELECT count(*) FROM bench") == [[str(ROWS)]]
        assert connection.run("SELECT * FROM redquel.check_indexes('bench')") == []


def test_initialisation_with_foreign_keys(server):
    """pgbench -i --foreign-keys, its keys over rows that are there."""
    options = [binary(), "-i", "-q", *pgbench_options(server)]
    run([*options, "-I", "dtp"], timeout=500)
    psql(server, """
        INSERT INTO pgbench_branches VALUES (1, 0);
        INSERT INTO pgbench_tellers SELECT g, 1, 0 FROM generate_series(1, 10) g;
        INSERT INTO pgbench_accounts SELECT g, 1, 0, '' FROM generate_series(1, 3000) g;
    """)
    run([*options, "-I", "f"], timeout=500)
    with server.connect() as connection:
        keys = connection.run("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conname LIKE 'pgbench%' AND convalidated")
        assert keys == [["5"]], keys
        assert connection.run("SELECT count(*) FROM redquel.check_indexes('pgbench_accounts')") == [["0"]]
    script = ("\\set aid random(1, 3000)\n\\set tid random(1, 10)\nBEGIN;\n"
              "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\n"
              "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, 1, :aid, 1, CURRENT_TIMESTAMP);\nEND;\n")
    pgbench(server, script, "simple", 4, 25)
    with server.connect() as connection:
        assert connection.run("SELECT count(*) FROM pgbench_history") == [["100"]]
        try:
            connection.run("INSERT INTO pgbench_history (tid, bid, aid) VALUES (1, 2, 3)")
            raise AssertionError("no error")
        except ServerError as error:
            assert error.sqlstate == "23503", error
