"""Programs of users over a Redis Cluster: migrations and sessions of ORMs, pgbench. Tables lie together, or each in a bucket of its own."""
import re

from clients.pages_test import follow
from clients.pgbench_test import binary
from harness.cluster_nodes import Cluster
from harness.programs import connection_options, run

SLOW = True
LIMIT = 900


def server_over_cluster(make_redis, make_server, placement):
    server = make_server(redis=Cluster(make_redis, masters=3, replicas=0))
    with server.connect() as connection:
        connection.run(f"ALTER DATABASE postgres SET redquel.placement = {placement}")
    return server


def test_sqlalchemy_over_a_cluster(make_redis, make_server):
    follow(server_over_cluster(make_redis, make_server, "together"), "SQLAlchemy", {})


def test_sqlalchemy_with_spread_tables(make_redis, make_server):
    follow(server_over_cluster(make_redis, make_server, "balanced"), "SQLAlchemy", {})


def test_django_over_a_cluster(make_redis, make_server):
    follow(server_over_cluster(make_redis, make_server, "together"), "Django", {})


def run_pgbench(server):
    """pgbench -i and its own transaction, as a user runs them. The balances agree in the end."""
    options = connection_options(server)
    run([binary(), "-i", "-q", *options], timeout=600)
    clients, transactions = 4, 50
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


def test_django_with_spread_tables(make_redis, make_server):
    follow(server_over_cluster(make_redis, make_server, "balanced"), "Django", {})
