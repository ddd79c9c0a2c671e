"""Statements over tables in several buckets of a Redis Cluster, compared with PostgreSQL."""
from harness.cluster_nodes import Cluster

BUCKETS = 8


def make_cluster(make_redis, make_server, servers=1, **options):
    cluster = Cluster(make_redis, **({"masters": 3, "replicas": 0} | options))
    return cluster, [make_server("--threads", "1", redis=cluster) for _ in range(servers)]


def outcome(connection, statement, data=b""):
    results = connection.query(statement, data)
    return [(result.tag, result.texts(), result.error and (result.error.get("C"), result.error.get("M"), result.error.get("D"))) for result in results]


def compare(spread, oracle, statements, tables=()):
    """Runs the statements on both. Their answers, and the rows of the tables after each, must be equal. {options} stands for the buckets."""
    for statement in statements:
        own = statement.replace("{options}", f"WITH (buckets = {BUCKETS})")
        assert outcome(spread, own) == outcome(oracle, statement.replace("{options}", "")), statement
        if oracle.status != "I":
            continue
        for table in tables:
            whole = f"SELECT * FROM {table} t ORDER BY t::text COLLATE \"C\""
            assert outcome(spread, whole) == outcome(oracle, whole), f"{table} after {statement}"


def differences(connection, *tables):
    return [row for table in tables for row in connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")]
