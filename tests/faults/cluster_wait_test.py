"""Promises of WAIT: the link of a master to its replica is cut, commits follow, the master dies, and the replica takes its place. Commits that were
acknowledged without WAIT are lost then, so the other tests could find losses."""
import signal

from harness.cluster_nodes import Cluster
from harness.pgwire import query
from harness.processes import temporary_folder
from harness.servers import run_when_it_is_back

SLOW = True
LIMIT = 300


def with_replicas(count):
    path = f"{temporary_folder()}/redquel.toml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"[redis]\nsynchronous_replicas = {count}\n")
    return "--config", path


def cut_and_fail_over(cluster, master, work):
    """Runs `work` while no replica gets the master's writes; then a replica replaces the master."""
    replica = master.replicas[0]
    replica.signal(signal.SIGSTOP)
    try:
        master("CLIENT", "KILL", "TYPE", "replica")
        result = work()
        master.kill()
    finally:
        replica.signal(signal.SIGCONT)
    cluster.wait_for_promotion(replica)
    return result


def commit_while_cut(make_redis, make_server, count, is_divided):
    """Commits a row of each table. Returns whether the commit was acknowledged, and whether its rows are there after the failover."""
    cluster = Cluster(make_redis, masters=3, replicas=1)
    server = make_server("--threads", "1", *with_replicas(count), redis=cluster)
    with server.connect() as connection, server.connect() as reader:
        if is_divided:
            connection.run("SET redquel.placement = balanced")
        connection.run("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
        connection.run("BEGIN; INSERT INTO a VALUES (1); INSERT INTO b VALUES (1); COMMIT")
        connection.run("BEGIN; INSERT INTO a VALUES (2); INSERT INTO b VALUES (2)")
        [tag] = {key.partition("}")[0] + "}" for node in cluster.masters for key in node("KEYS", "*}a:1")}

        def work():
            connection.send(query("COMMIT"))
            return connection.has_input(2)

        acknowledged = cut_and_fail_over(cluster, cluster.master_of(tag), work)
        [result] = connection.results()
        assert acknowledged or result.sqlstate in ("40001", "08006", "08007", None), result.error
        count_rows = "SELECT (SELECT count(*) FROM a WHERE id = 2), (SELECT count(*) FROM b WHERE id = 2)"
        [[in_a, in_b]] = run_when_it_is_back(reader, count_rows)
        assert in_a == in_b, "half of a commit is there"
        if result.sqlstate == "40001":
            assert in_a == "0", "refused and there"
        if result.error is None and not acknowledged:
            assert in_a == "1", "acknowledged and lost"
    return acknowledged, in_a == "1"


def test_without_wait_a_failover_loses_what_was_acknowledged(make_redis, make_server):
    assert commit_while_cut(make_redis, make_server, 0, is_divided=False) == (True, False)


def test_with_wait_nothing_is_acknowledged_that_a_failover_loses(make_redis, make_server):
    acknowledged, _ = commit_while_cut(make_redis, make_server, 1, is_divided=False)
    assert not acknowledged


def test_commits_over_buckets_wait_in_any_case(make_redis, make_server):
    acknowledged, _ = commit_while_cut(make_redis, make_server, 0, is_divided=True)
    assert not acknowledged
