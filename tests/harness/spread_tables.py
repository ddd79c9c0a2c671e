"""Statements over tables in several buckets of a Redis Cluster, compared with PostgreSQL."""
from harness.cluster_nodes import Cluster

BUCKETS = 8
WORDS = (("{options}", f"WITH (buckets = {BUCKETS})", ""), ("{spread}", f"SET (buckets = {BUCKETS})", "SET (fillfactor = 90)"),
         ("{fewer}", "SET (buckets = 3)", "SET (fillfactor = 80)"))


def make_cluster(make_redis, make_server, servers=1, **options):
    cluster = Cluster(make_redis, **({"masters": 3, "replicas": 0} | options))
    return cluster, [make_server("--threads", "1", redis=cluster) for _ in range(servers)]


def outcome(connection, statement, data=b""):
    results = connection.query(statement, data)
    return [(result.tag, result.texts(), result.error and (result.error.get("C"), result.error.get("M"), result.error.get("D"))) for result in results]


def compare(spread, oracle, statements, tables=()):
    """Runs the statements on both. Their answers, and the rows of the tables after each, must be equal. {options} stands for the buckets, {spread} and
    {fewer} for other buckets in ALTER TABLE."""
    for statement in statements:
        own, other = statement, statement
        for word, here, there in WORDS:
            own, other = own.replace(word, here), other.replace(word, there)
        found, expected = outcome(spread, own), outcome(oracle, other)
        assert found == expected, f"{statement}: {found}, {expected}"
        if oracle.status != "I":
            continue
        for table in tables:
            whole = f"SELECT * FROM {table} t ORDER BY t::text COLLATE \"C\""
            assert outcome(spread, whole) == outcome(oracle, whole), f"{table} after {statement}"


def differences(connection, *tables):
    return [row for table in tables for row in connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")]
