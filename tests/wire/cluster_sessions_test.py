"""Sessions of several redquel processes over a Redis Cluster: activity, notifications, locks, and maintenance of tables in several buckets."""
import time

from harness.cluster_nodes import Cluster
from harness.processes import temporary_folder
from harness.servers import least_acl_rule
from harness.waiting import wait_for

SLOW = True
TABLES = 4


def two_processes(make_redis, make_server, **options):
    cluster = Cluster(make_redis, masters=3, replicas=0, **options)
    servers = [make_server("--threads", "1", redis=cluster) for _ in range(3)]
    with servers[0].connect() as connection:
        connection.run("SET redquel.placement = balanced")
        for number in range(TABLES):
            connection.run(f"CREATE TABLE t{number} (id int PRIMARY KEY, v int)")
            connection.run(f"CREATE INDEX i{number} ON t{number} USING hash (v)")
            connection.run(f"INSERT INTO t{number} SELECT i, i % 5 FROM generate_series(1, 40) i")
    return cluster, servers


def test_activity_of_all_processes(make_redis, make_server):
    """Each process listens at another node, and PUBLISH counts the listeners of one."""
    _, servers = two_processes(make_redis, make_server)
    connections = [server.connect() for server in servers]
    try:
        for connection in connections:
            connection.run("SELECT 1")
        for connection in connections:
            pids = {str(other.process_id) for other in connections}
            assert pids <= {row[0] for row in connection.run("SELECT pid FROM pg_stat_activity WHERE pid IS NOT NULL")}
        begun = time.monotonic()
        for _ in range(4):
            connections[0].run("SELECT count(*) FROM pg_stat_activity")
        print(f"  {(time.monotonic() - begun) / 4:.3f} s for pg_stat_activity", flush=True)
    finally:
        for connection in connections:
            connection.close()


def test_notifications_reach_all_processes(make_redis, make_server):
    _, servers = two_processes(make_redis, make_server)
    listeners = [server.connect() for server in servers]
    try:
        for listener in listeners:
            listener.run("LISTEN news")
        with servers[1].connect() as sender:
            sender.run("NOTIFY news, 'hello'")

        def has_come(listener):
            listener.run("SELECT 1")
            return any("hello" in str(notification) for notification in listener.notifications)
        for listener in listeners:
            wait_for(lambda listener=listener: has_come(listener), what="the notification")
    finally:
        for listener in listeners:
            listener.close()


def test_locks_of_all_buckets(make_redis, make_server):
    _, servers = two_processes(make_redis, make_server)
    with servers[0].connect() as connection, servers[1].connect() as other:
        connection.run("BEGIN")
        for number in range(TABLES):
            connection.run(f"SELECT * FROM t{number} WHERE id = 1 FOR UPDATE")
        connection.run("SELECT pg_advisory_xact_lock(7)")
        seen = other.run("SELECT DISTINCT relation::regclass::text FROM pg_locks WHERE relation::regclass::text LIKE 't_' ORDER BY 1")
        assert seen == [[f"t{number}"] for number in range(TABLES)], seen
        assert other.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [["1"]]
        assert other.run_error("SELECT * FROM t2 WHERE id = 1 FOR UPDATE NOWAIT")["C"] == "55P03"
        connection.run("COMMIT")
        assert other.run("SELECT count(*) FROM pg_locks WHERE relation::regclass::text LIKE 't_'") == [["0"]]


def test_maintenance_of_all_buckets(make_redis, make_server):
    cluster, servers = two_processes(make_redis, make_server)
    with servers[0].connect() as connection:
        for number in range(TABLES):
            key, = [key for node in cluster.masters for key in node("KEYS", f"{{*}}t{number}:indices:v:1")]
            cluster("SREM", key, "6")
            assert connection.run(f"SELECT count(*) FROM redquel.check_indexes('t{number}')") == [["1"]]
            connection.run(f"REINDEX TABLE t{number}")
            assert connection.run(f"SELECT * FROM redquel.check_indexes('t{number}')") == []
        result = connection.query("SELECT * FROM redquel.cached_tables()")[-1]
        assert result.error is None and "does not report" in result.notices[0]["M"], result.notices


def test_the_least_rights_are_enough(make_redis, make_server, build):
    cluster = Cluster(make_redis, masters=3, replicas=0)
    words = least_acl_rule(build, cluster)
    assert "+cluster|slots" in words and "+pubsub|numsub" in words
    for node in cluster.nodes:
        node(*words)
    cluster.login = "redquel:least@"
    with open(path := f"{temporary_folder()}/redquel.toml", "w", encoding="utf-8") as file:
        file.write("[redis]\nmove_timeout = 2\n")
    server = make_server("--config", path, redis=cluster)
    with server.connect() as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1); UPDATE t SET v = 2")
        connection.run("CREATE FOREIGN TABLE f (id int, a text) SERVER redis OPTIONS (layout 'hash', key 'f:{id}')")
        connection.run("INSERT INTO f VALUES (1, 'x')")
        assert connection.run("SELECT v, a FROM t, f") == [["2", "x"]]
        assert connection.run("SELECT count(*) > 0 FROM pg_stat_activity") == [["t"]]
