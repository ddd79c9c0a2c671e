"""Programs of users over a Redis Cluster: migrations and sessions of ORMs, pgbench. Tables lie together, or each in a bucket of its own."""
import os
import re
import subprocess

from clients.pages_test import follow
from clients.pg_dump_test import dump
from clients.pgbench_test import binary
from harness.cluster_nodes import Cluster
from harness.programs import pgbench_options, psql, run

SLOW = True
LIMIT = 900


def server_over_cluster(make_redis, make_server, placement=None, buckets=None):
    server = make_server(redis=Cluster(make_redis, masters=3, replicas=0))
    with server.connect() as connection:
        if placement:
            connection.run(f"ALTER DATABASE postgres SET redquel.placement = {placement}")
        if buckets:
            connection.run(f"ALTER DATABASE postgres SET redquel.buckets = {buckets}")
    return server


def test_sqlalchemy_over_a_cluster(make_redis, make_server):
    follow(server_over_cluster(make_redis, make_server, "together"), "SQLAlchemy", {})


def test_sqlalchemy_with_spread_tables(make_redis, make_server):
    follow(server_over_cluster(make_redis, make_server, "balanced"), "SQLAlchemy", {})


def test_django_over_a_cluster(make_redis, make_server):
    follow(server_over_cluster(make_redis, make_server, "together"), "Django", {})


def run_pgbench(server, scale=1, transactions=50):
    """pgbench -i and its own transaction, as a user runs them. The balances agree in the end."""
    options = pgbench_options(server)
    run([binary(), "-i", "-q", "-s", scale, *options], timeout=600)
    clients = 4
    output = run([binary(), "-c", clients, "-j", 2, "-t", transactions, *options], timeout=600)
    processed, failed = re.search(r"actually processed: (\d+)/", output), re.search(r"failed transactions: (\d+)", output)
    assert processed[1] == str(clients * transactions) and (not failed or failed[1] == "0"), output
    with server.connect() as connection:
        sums = [connection.run(f"SELECT sum({column})::text FROM pgbench_{table}") for table, column in
                (("accounts", "abalance"), ("tellers", "tbalance"), ("branches", "bbalance"), ("history", "delta"))]
        assert sums[0] == sums[1] == sums[2] == sums[3], sums
        assert connection.run("SELECT count(*) FROM pgbench_history") == [[str(clients * transactions)]]
        assert connection.run("SELECT * FROM redquel.check_indexes('pgbench_accounts')") == []


def test_pgbench_over_a_cluster(make_redis, make_server):
    run_pgbench(server_over_cluster(make_redis, make_server, "together"))


def test_pgbench_with_spread_tables(make_redis, make_server):
    run_pgbench(server_over_cluster(make_redis, make_server, "balanced"))


def test_pgbench_with_tables_in_several_buckets(make_redis, make_server):
    """`PGBENCH_SCALE=10 tests/run.py clients -k several_buckets` makes a million accounts."""
    server = server_over_cluster(make_redis, make_server, buckets=16)
    run_pgbench(server, int(os.environ.get("PGBENCH_SCALE", "1")))
    with server.connect() as connection:
        plan = connection.run("EXPLAIN SELECT count(*) FROM pgbench_accounts")
        assert any("Buckets: all 16" in row[0] for row in plan), plan


SALES = """
CREATE TABLE sale (customer int, number int, amount numeric(10, 2), note text, PRIMARY KEY (customer, number)) WITH (buckets = 16);
CREATE INDEX ON sale (amount);
CREATE TABLE visit (at timestamp, who text) WITH (buckets = 4);
INSERT INTO sale SELECT n % 200, n, n * 1.5, CASE WHEN n % 3 > 0 THEN 'note ' || n END FROM generate_series(1, 5000) n;
INSERT INTO visit SELECT timestamp '2024-01-01' + n * interval '1 hour', 'w' || n % 10 FROM generate_series(1, 300) n;
"""
SUMS = "SELECT count(*), sum(amount), count(note) FROM sale; SELECT count(*), min(at), max(at), count(DISTINCT who) FROM visit;"


def test_a_dump_of_tables_in_several_buckets_restores_everywhere(make_redis, make_server):
    source, target = (server_over_cluster(make_redis, make_server) for _ in range(2))
    alone = make_server(redis=make_redis())
    psql(source, SALES)
    text = dump(source, "postgres")
    assert "buckets='16'" in text or "buckets=16" in text, text
    for server in (target, alone):
        psql(server, text)
        assert psql(server, SUMS) == psql(source, SUMS)
        assert sorted(dump(server, "postgres").splitlines()) == sorted(text.splitlines())
    with target.connect() as connection:
        assert "Buckets: all 16" in "\n".join(row[0] for row in connection.run("EXPLAIN SELECT count(*) FROM sale"))
        for table in ("sale", "visit"):
            assert connection.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []
    checked = subprocess.run([target.binary, "check", "--redis", target.redis.url], capture_output=True, text=True, timeout=120, check=False)
    assert "0 errors" in checked.stdout + checked.stderr, checked.stdout + checked.stderr


def test_django_with_spread_tables(make_redis, make_server):
    follow(server_over_cluster(make_redis, make_server, "balanced"), "Django", {})
